import { type Endpoint, endpointText, parseEndpoint } from './endpoint.ts';
import type { TalosAccess } from './talos-client.ts';

/** One way to a node. */
export interface Route {
  readonly kind: 'direct' | 'forwarded';
  /** What is dialled: the node itself, or a control plane that forwards. */
  readonly endpoint: Endpoint;
}

const maxRemembered = 4096;

/** Which ways lead to a node, in which order, given how they did before. */
export class Routing {
  readonly #defaultPort: number;
  // By address of the node, in order of use: the endpoint that worked, or the control plane that let us wait.
  readonly #experience = new Map<string, { readonly endpoint: string; readonly rank: -1 | 1 }>();

  constructor(defaultPort: number) {
    this.#defaultPort = defaultPort;
  }

  /**
   * The routes to try, best first: the one that worked, else the node itself and then each endpoint.
   *
   * An endpoint that is the node itself is no second route. Empty where the address cannot be
   * dialled. Endpoints that cannot be read are left out; see `unreadable`.
   */
  routesTo(address: string, access: TalosAccess): Route[] {
    const node = parseEndpoint(address, this.#defaultPort);
    if (node === undefined) {
      return [];
    }
    const seen = new Set([endpointText(node)]);
    const routes: Route[] = [{ kind: 'direct', endpoint: node }];
    for (const text of access.endpoints) {
      const endpoint = parseEndpoint(text, this.#defaultPort);
      if (endpoint !== undefined && !seen.has(endpointText(endpoint))) {
        seen.add(endpointText(endpoint));
        routes.push({ kind: 'forwarded', endpoint });
      }
    }
    const known = this.#experience.get(address);
    const rank = (route: Route) =>
      endpointText(route.endpoint) === known?.endpoint ? known.rank : 0;
    return routes.sort((left, right) => rank(left) - rank(right));
  }

  /** Endpoints that are none, for a message when every route has failed. */
  unreadable(access: TalosAccess): readonly string[] {
    return access.endpoints.filter((text) => parseEndpoint(text, this.#defaultPort) === undefined);
  }

  /** This route worked: it is tried first the next time. */
  worked(address: string, route: Route): void {
    this.#remember(address, route, -1);
  }

  /**
   * This route gave no answer: it loses its place, and a control plane is tried last the next time,
   * because it and not the node may be what hangs.
   */
  failed(address: string, route: Route): void {
    if (route.kind === 'forwarded') {
      this.#remember(address, route, 1);
    } else if (this.#experience.get(address)?.endpoint === endpointText(route.endpoint)) {
      this.#experience.delete(address);
    }
  }

  #remember(address: string, route: Route, rank: -1 | 1): void {
    this.#experience.delete(address);
    this.#experience.set(address, { endpoint: endpointText(route.endpoint), rank });
    const oldest = this.#experience.keys().next().value;
    if (this.#experience.size > maxRemembered && oldest !== undefined) {
      this.#experience.delete(oldest);
    }
  }
}
