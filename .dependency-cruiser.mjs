const pureTests = '\\.(test|suite)\\.ts$';
const own = (name) => `^packages/${name}/`;

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [
    {
      name: 'policy-imports-only-itself',
      severity: 'error',
      comment:
        'The policy decides; it never reads or writes anything, so it may see nothing but itself and the two ASN.1 libraries.',
      from: {
        path: `${own('policy')}src/`,
        pathNot: [pureTests, '/src/testing/', '/src/signature\\.node\\.ts$'],
      },
      to: { pathNot: [`${own('policy')}src/`, 'node_modules/(asn1js|pkijs)/'] },
    },
    {
      name: 'signature-is-the-only-door-to-crypto',
      severity: 'error',
      comment: 'One file verifies a signature; nothing else in the policy sees Node.',
      from: {
        path: `${own('policy')}src/`,
        pathNot: [pureTests, '/src/testing/', '/src/signature\\.node\\.ts$'],
      },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'asn1-libraries-stay-behind-one-file-each',
      severity: 'error',
      comment:
        'asn1js is the second parser, pkijs reads issued certificates; neither may judge a request.',
      from: {
        path: `${own('policy')}src/`,
        pathNot: [
          pureTests,
          '/src/testing/',
          '/src/second-parser\\.ts$',
          '/src/issued-certificate\\.ts$',
        ],
      },
      to: { path: 'node_modules/(asn1js|pkijs)/' },
    },
    {
      name: 'two-parsers-share-no-code',
      severity: 'error',
      comment: 'A fault that both parsers share would be seen by neither.',
      from: { path: `${own('policy')}src/second-parser\\.ts$` },
      to: { path: `${own('policy')}src/(der|x509|csr)/` },
    },
    {
      name: 'testing-is-not-imported-by-source',
      severity: 'error',
      comment: 'Builders and fakes are for tests; what runs must not depend on them.',
      from: {
        path: '^packages/[^/]+/src/',
        pathNot: [
          pureTests,
          '/src/testing/',
          '^packages/testbed/',
          '^packages/operator/src/(demo|simulation)/',
        ],
      },
      to: { path: '(/src/testing/|/dist/testing/)' },
    },
    {
      name: 'builder-needs-no-generators',
      severity: 'error',
      comment: 'Whoever only builds requests, as the demo does, need not install fast-check.',
      from: { path: `${own('policy')}src/testing/builder\\.ts$` },
      to: { path: 'node_modules/fast-check/', reachable: true },
    },
    {
      name: 'render-imports-only-itself',
      severity: 'error',
      comment: 'Documents are data; rendering reads nothing and writes nothing.',
      from: { path: `${own('render')}src/`, pathNot: [pureTests] },
      to: { pathNot: [`${own('render')}src/`, 'node_modules/yaml/'] },
    },
    {
      name: 'encode-and-yaml-stream-are-the-only-doors-to-yaml',
      severity: 'error',
      comment:
        'One file spells documents and one reads and edits them, so that spelling is decided once.',
      from: {
        path: `${own('render')}src/`,
        pathNot: [pureTests, '/src/(encode|yaml-stream)\\.ts$'],
      },
      to: { path: 'node_modules/yaml/' },
    },
    {
      name: 'talos-client-knows-no-domain',
      severity: 'error',
      comment: 'It reports what the node said, in its own types; it knows no policy.',
      from: { path: own('talos-client') },
      to: { path: '^packages/(policy|render|k8s-adapter|operator|testbed)/' },
    },
    {
      name: 'k8s-adapter-imports-only-the-cores',
      severity: 'error',
      comment: 'It translates; it does not decide, and it does not call Talos.',
      from: { path: own('k8s-adapter') },
      to: { path: '^packages/(talos-client|operator|testbed)/' },
    },
    {
      name: 'operator-does-not-import-the-testbed',
      severity: 'error',
      comment: 'The testbed proves the operator and is never published.',
      from: { path: own('operator') },
      to: { path: own('testbed') },
    },
    {
      name: 'plan-is-pure',
      severity: 'error',
      comment: 'Planning is a function of a snapshot: no I/O, no clock, no adapter at run time.',
      from: { path: '^packages/operator/src/.*/plan[^/]*\\.ts$', pathNot: [pureTests] },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'entry-points-only',
      severity: 'error',
      comment: 'Across packages only what the exports map offers may be imported.',
      from: { path: '^packages/([^/]+)/' },
      to: {
        path: '^packages/([^/]+)/(src|dist)/',
        pathNot: [
          '^packages/$1/',
          '^packages/[^/]+/(src|dist)/(index|index\\.browser|testing/(index|builder))\\.(ts|js|d\\.ts)$',
        ],
      },
    },
    {
      name: 'no-cycles',
      severity: 'error',
      comment: 'A cycle has no first file to read.',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no-undeclared-dependency',
      severity: 'error',
      comment: 'What a package imports stands in its package.json.',
      from: { path: '^packages/[^/]+/src/', pathNot: [pureTests, '/src/testing/'] },
      to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown', 'npm-dev', 'unknown', 'undetermined'] },
    },
  ],
  options: {
    doNotFollow: { path: ['node_modules', 'dist'] },
    exclude: { path: ['/dist/', '/testdata/', '^packages/testbed/go/'] },
    tsPreCompilationDeps: true,
    combinedDependencies: true,
    tsConfig: { fileName: 'tsconfig.test.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'types', 'default'],
    },
  },
};
