import { fileURLToPath } from 'node:url';
import { loadSync, type MessageTypeDefinition, type MethodDefinition } from '@grpc/proto-loader';

/** `cosi.resource.Resource` as it comes over the wire; absent messages are null. */
export interface WireResource {
  readonly metadata: {
    readonly namespace: string;
    readonly type: string;
    readonly id: string;
    readonly version: string;
    readonly owner: string;
    readonly phase: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly annotations: Readonly<Record<string, string>>;
  } | null;
  readonly spec: { readonly protoSpec: Uint8Array; readonly yamlSpec: string } | null;
}

/** What a Get or List names. */
export interface WireQuery {
  readonly namespace: string;
  readonly type: string;
  readonly id?: string;
}

/** `cosi.resource.WatchRequest`. */
export interface WireWatchRequest extends WireQuery {
  readonly options?: { readonly bootstrapContents: boolean };
  readonly apiVersion: 1;
}

/** `cosi.resource.Event`; an event type that is not known is its number. */
export interface WireEvent {
  readonly resource: WireResource | null;
  readonly eventType: string | number;
  readonly error?: string;
}

/** `machine.VersionResponse`. */
export interface WireVersionResponse {
  readonly messages: readonly {
    readonly version: { readonly tag: string; readonly sha: string; readonly arch: string } | null;
    readonly platform: { readonly name: string; readonly mode: string } | null;
  }[];
}

/** One remote call: its path and how its messages are written and read, on either side. */
export interface RemoteCall<Request, Response> {
  readonly path: string;
  readonly encodeRequest: (request: Request) => Buffer;
  readonly decodeRequest: (bytes: Buffer) => Request;
  readonly encodeResponse: (response: Response) => Buffer;
  readonly decodeResponse: (bytes: Buffer) => Response;
}

const definitions = loadSync(['cosi.proto', 'machine.proto', 'specs.proto'], {
  // Beside the sources as well as beside the build.
  includeDirs: [fileURLToPath(new URL('../proto', import.meta.url))],
  defaults: true,
  enums: String,
  longs: String,
});

function remoteCall<Request, Response>(
  service: string,
  method: string,
): RemoteCall<Request, Response> {
  const methods = definitions[service] as Record<string, MethodDefinition<object, object>>;
  const found = methods[method];
  if (found === undefined) {
    throw new Error(`proto files lack ${service}/${method}`);
  }
  // The schema is the type here: what it decodes has exactly the fields of the interfaces above.
  return {
    path: found.path,
    encodeRequest: (request) => found.requestSerialize(request as object),
    decodeRequest: (bytes) => found.requestDeserialize(bytes) as Request,
    encodeResponse: (response) => found.responseSerialize(response as object),
    decodeResponse: (bytes) => found.responseDeserialize(bytes) as Response,
  };
}

function specCodec<Spec>(name: string): SpecCodec<Spec> {
  const found = definitions[`talos.spec.${name}`] as MessageTypeDefinition<object, object>;
  return {
    decode: (bytes) => found.deserialize(Buffer.from(bytes)) as Spec,
    encode: (spec) => found.serialize(spec as object),
  };
}

/** Reads and writes the payload of one resource type. `decode` throws on bytes that are none. */
export interface SpecCodec<Spec> {
  readonly decode: (bytes: Uint8Array) => Spec;
  readonly encode: (spec: Spec) => Buffer;
}

/** `cosi.resource.State/Get`. */
export const getCall = remoteCall<Required<WireQuery>, { readonly resource: WireResource | null }>(
  'cosi.resource.State',
  'Get',
);

/** `cosi.resource.State/List`: one message per resource. */
export const listCall = remoteCall<WireQuery, { readonly resource: WireResource | null }>(
  'cosi.resource.State',
  'List',
);

/** `cosi.resource.State/Watch`. */
export const watchCall = remoteCall<WireWatchRequest, { readonly event: readonly WireEvent[] }>(
  'cosi.resource.State',
  'Watch',
);

/** `machine.MachineService/Version`. */
export const versionCall = remoteCall<object, WireVersionResponse>(
  'machine.MachineService',
  'Version',
);

interface WireIp {
  readonly ip: Uint8Array;
}

/** Payloads by resource, with the fields that are read. */
export const specs = {
  nodeIp: specCodec<{ readonly addresses: readonly WireIp[] }>('NodeIP'),
  nodeIpConfig: specCodec<{
    readonly validSubnets: readonly string[];
    readonly excludeSubnets: readonly string[];
  }>('NodeIPConfig'),
  nodename: specCodec<{ readonly nodename: string }>('Nodename'),
  hostnameStatus: specCodec<{ readonly hostname: string; readonly domainname: string }>(
    'HostnameStatus',
  ),
  addressStatus: specCodec<{
    readonly address: (WireIp & { readonly prefixLength: number }) | null;
    readonly linkName: string;
  }>('AddressStatus'),
  platformMetadata: specCodec<{
    readonly platform: string;
    readonly hostname: string;
    readonly internalDns: string;
    readonly externalDns: string;
  }>('PlatformMetadata'),
};
