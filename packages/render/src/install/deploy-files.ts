import { encodeYaml } from '../encode.ts';
import { installManifest } from './install-manifest.ts';

const header = '# Generated from @ichor/render by "npm run deploy:update"; changes belong there.\n';

/**
 * Texts of the manifests that the repository keeps, by file name. They hold a placeholder for the
 * image, `ichor:0.1.0`.
 */
export function deployFiles(): Readonly<Record<string, string>> {
  return {
    'crds.yaml': header + encodeYaml(installManifest({ only: ['crds'] })),
    'rbac.yaml': header + encodeYaml(installManifest({ only: ['rbac'] })),
    'install.yaml': header + encodeYaml(installManifest({ image: 'ichor:0.1.0' })),
  };
}
