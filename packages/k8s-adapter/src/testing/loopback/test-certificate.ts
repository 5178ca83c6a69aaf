import { webcrypto } from 'node:crypto';
import * as asn1js from 'asn1js';
import * as pkijs from 'pkijs';

/** A certificate that signed itself, with its key, as PEM. */
export interface TestCertificate {
  readonly certificate: string;
  readonly key: string;
}

/** Makes a P-256 certificate for 127.0.0.1, valid for a day around now. */
export async function testCertificate(commonName: string): Promise<TestCertificate> {
  pkijs.setEngine('node', new pkijs.CryptoEngine({ name: 'node', crypto: webcrypto as never }));
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256' };
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const certificate = new pkijs.Certificate();
  certificate.version = 2;
  certificate.serialNumber = new asn1js.Integer({ value: 1 });
  const name = new pkijs.AttributeTypeAndValue({
    type: '2.5.4.3',
    value: new asn1js.Utf8String({ value: commonName }),
  });
  certificate.subject.typesAndValues.push(name);
  certificate.issuer.typesAndValues.push(name);
  certificate.notBefore.value = new Date(Date.now() - 43_200_000);
  certificate.notAfter.value = new Date(Date.now() + 43_200_000);
  const loopback = new asn1js.OctetString({ valueHex: Uint8Array.of(127, 0, 0, 1).buffer });
  const names = new pkijs.GeneralNames({
    names: [new pkijs.GeneralName({ type: 7, value: loopback })],
  });
  const constraints = new pkijs.BasicConstraints({ cA: true });
  certificate.extensions = [
    new pkijs.Extension({ extnID: '2.5.29.17', extnValue: names.toSchema().toBER(false) }),
    new pkijs.Extension({
      extnID: '2.5.29.19',
      critical: true,
      extnValue: constraints.toSchema().toBER(false),
    }),
  ];
  await certificate.subjectPublicKeyInfo.importKey(keys.publicKey as never);
  await certificate.sign(keys.privateKey as never, 'SHA-256');
  const pkcs8 = await webcrypto.subtle.exportKey('pkcs8', keys.privateKey);
  return {
    certificate: pem('CERTIFICATE', certificate.toSchema().toBER(false)),
    key: pem('PRIVATE KEY', pkcs8),
  };
}

function pem(label: string, der: ArrayBuffer): string {
  const lines = Buffer.from(der).toString('base64').replace(/.{64}/g, '$&\n').trimEnd();
  return `-----BEGIN ${label}-----\n${lines}\n-----END ${label}-----\n`;
}
