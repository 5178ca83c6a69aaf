import { compile, inRoot, node, run } from './real-parts.mjs';

// npm run demo: installs and builds what is needed, then shows what the operator does, without a cluster.
// Runs on Node 20 and without any package.

compile();
process.exitCode = run(node, [inRoot('packages', 'operator', 'bin', 'ichor.mjs'), 'demo']);
