// Writes the generated manifests of packages/operator/deploy. Build @ichor/render first.
import { mkdirSync, writeFileSync } from 'node:fs';
import { deployFiles } from '../dist/index.js';

const folder = new URL('../../operator/deploy/', import.meta.url);
mkdirSync(folder, { recursive: true });
for (const [name, text] of Object.entries(deployFiles())) {
  writeFileSync(new URL(name, folder), text);
  console.log(`packages/operator/deploy/${name}: ${text.length} characters`);
}
