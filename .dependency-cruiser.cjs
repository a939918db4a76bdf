/**
 * The import rule of src/README.md as an allow-list: what is not listed here fails until somebody decides its place.
 * Each vendor package has one home.
 */
const builtin = { dependencyTypes: ['core'] }
const inside = (folder) => ({ from: { path: `^src/${folder}/` }, to: { path: `^src/${folder}/` } })
const allow = (from, ...to) => to.map((path) => ({ from: { path: from }, to: { path } }))
const vendor = (from, ...names) =>
  names.map((name) => ({ from: { path: from }, to: { path: `^node_modules/(@types/)?${name}(/|$)` } }))

const STAGES = '^src/(sessions|delivery|schedule|approvals|questions|memory|budgets)/'
const CORE = '^src/core/'
/** From top to bottom: each may import those that follow it. */
const SESSION_FOLDERS = [
  'commands',
  'forgetting',
  'session-tools',
  'service',
  'export',
  'lookups',
  'view',
  'turns',
  'people',
]

module.exports = {
  forbidden: [
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'no-orphans',
      severity: 'error',
      from: { orphan: true, path: '^(src|adapters)/', pathNot: '\\.(md|json|yaml)$' },
      to: {},
    },
    {
      name: 'pure-routing',
      comment: 'routing and core do no I/O: of the built-in modules only the hash and the checks of bytes',
      severity: 'error',
      from: { path: '^src/(routing|core)/' },
      to: { dependencyTypes: ['core'], pathNot: '^(node:)?(crypto|buffer)$' },
    },
    {
      name: 'store-types-only',
      comment: 'stages see the types of the store port, never an engine or a noun file',
      severity: 'error',
      from: { path: STAGES },
      to: { path: '^src/store/', pathNot: '^src/store/(store|[a-z]+-port)\\.ts$' },
    },
    ...SESSION_FOLDERS.map((folder, at) => ({
      name: `sessions-${folder}-imports-no-folder-above`,
      severity: 'error',
      from: { path: `^src/sessions/${folder}/` },
      to: { path: `^src/sessions/(${['none', ...SESSION_FOLDERS.slice(0, at)].join('|')})/` },
    })),
    {
      name: 'seam-not-hub',
      severity: 'error',
      from: { path: '^(adapters/|src/delivery/)' },
      to: { path: '^src/channels/hub' },
    },
    {
      name: 'catalogue-only-from-daemon-and-main',
      severity: 'error',
      from: { pathNot: '^(src/(daemon/|main\\.ts)|test/|adapters/index\\.ts)' },
      to: { path: '^adapters/index\\.ts$' },
    },
  ],
  allowed: [
    { from: {}, to: builtin },
    ...[
      'core',
      'channels',
      'routing',
      'sessions',
      'agent',
      'delivery',
      'schedule',
      'approvals',
      'questions',
      'memory',
      'budgets',
      'store',
      'config',
      'http',
      'client',
      'cli',
      'platform',
      'media',
      'web',
      'mcp',
      'own',
      'hooks',
      'imports',
      'rehearsal',
      'pipeline',
      'daemon',
      'backup',
    ].map(inside),
    ...allow(
      '^src/(channels|routing|store|config|platform|media|web|mcp|own|hooks|imports|agent|http|client|cli|rehearsal|sessions|delivery|schedule|approvals|questions|memory|budgets)/',
      CORE,
    ),
    ...allow(STAGES, '^src/store/(store|[a-z]+-port)\\.ts$'),
    ...allow('^src/delivery/', '^src/channels/(adapter|capabilities)\\.ts$'),
    ...allow(
      '^src/pipeline/',
      CORE,
      '^src/(sessions|delivery|routing|agent|store|approvals)/',
      '^src/channels/adapter\\.ts$',
    ),
    // The one place that knows all parts; neither the command line nor the rehearsal is one of them.
    ...allow(
      '^src/daemon/',
      '^src/(backup|core|channels|routing|sessions|agent|delivery|schedule|approvals|questions|memory|budgets|store|config|http|platform|media|web|mcp|own|hooks|imports|pipeline)/',
      '^adapters/index\\.ts$',
    ),
    // A copy of everything, and the way back.
    ...allow('^src/backup/', '^src/(core|config|store|media|sessions)/', '^src/schedule/let-go\\.ts$'),
    ...allow('^src/backup/', '^src/platform/(private-folder|remove-at-end|wipe)\\.ts$'),
    ...vendor('^src/backup/', 'zod'),
    ...allow('^src/(http|cli)/', '^src/config/'),
    ...allow('^src/http/write-document\\.ts$', '^src/platform/version\\.ts$'),
    ...allow('^src/cli/', '^src/(client|http/schemas)/'),
    ...allow('^src/(store/engines|http|cli|media|mcp)/', '^src/platform/private-folder\\.ts$'),
    ...allow('^src/(store/engines|media)/', '^src/platform/wipe\\.ts$'),
    ...allow('^src/cli/', '^src/platform/remove-at-end\\.ts$'),
    ...allow('^src/cli/', '^src/channels/setup\\.ts$'),
    ...allow(
      '^src/imports/',
      '^src/config/read-yaml\\.ts$',
      '^src/platform/remove-at-end\\.ts$',
      '^src/store/engines/sqlite-driver\\.ts$',
    ),
    ...allow('^src/(web|media|http)/', '^src/platform/(run-child|decode-text)\\.ts$'),
    // Whatever connects asks for the way out of this process.
    ...allow('^(adapters/[^/]+/connection|src/web)/', '^src/platform/(proxies|way-out)\\.ts$'),
    ...allow('^src/node-floor\\.ts$', '^src/main\\.ts$'),
    ...allow('^src/main\\.ts$', '^src/', '^adapters/index\\.ts$'),
    ...allow('^adapters/index\\.ts$', '^adapters/', '^src/channels/adapter\\.ts$', CORE),
    ...allow(
      '^adapters/(?!shared/)[^/]+/',
      CORE,
      '^src/channels/(adapter|capabilities|setup)\\.ts$',
      '^adapters/shared/',
    ),
    { from: { path: '^adapters/([^/]+)/' }, to: { path: '^adapters/$1/' } },
    ...allow('^adapters/shared/', CORE, '^src/channels/(adapter|setup)\\.ts$'),
    ...allow('^test/', '^(src|adapters|test|config)/', '^node_modules/'),
    ...vendor('^adapters/telegram/', 'telegraf'),
    ...vendor('^adapters/discord/', 'discord\\.js', '@discordjs/ws', 'ws'),
    ...vendor('^src/rehearsal/discord/', 'ws'),
    ...vendor('^adapters/slack/', '@slack/(bolt|socket-mode|web-api)'),
    ...vendor('^src/rehearsal/slack/', 'ws'),
    ...vendor('^adapters/shared/', 'markdown-it'),
    ...vendor('^adapters/', 'lru-cache', 'p-limit'),
    ...vendor('^adapters/[^/]+/config\\.ts$', 'zod'),
    ...vendor('^adapters/index\\.ts$', 'zod'),
    // Where an older version of it is installed under another name, only the name is seen.
    {
      from: { path: '^src/store/engines/sqlite-(driver|cipher)\\.ts$' },
      to: { path: '(^|/)better-sqlite3(/|$)' },
    },
    ...vendor('^src/(sessions|agent|store|delivery)/', 'lru-cache'),
    ...vendor('^src/sessions/export/', 'yaml', 'zod'),
    ...vendor('^src/schedule/', 'node-cron', 'cron-parser', 'cronstrue'),
    // An entry of its own, which the resolver here does not follow.
    { from: { path: '^src/http/' }, to: { path: '^hono/route$' } },
    ...allow('^src/hooks/', '^src/store/(store|[a-z]+-port)\\.ts$'),
    ...vendor('^src/(hooks|memory|platform)/', 'p-limit'),
    ...vendor('^src/mcp/', 'zod'),
    ...vendor('^src/own/', 'zod', 'jiti'),
    ...allow('^src/own/', '^config/own-tools\\.d\\.ts$'),
    ...allow('^config/own-tools/', '^config/own-tools\\.d\\.ts$'),
    // Names of the package's `exports`, which are not resolved to files.
    ...allow('^src/mcp/', '^@modelcontextprotocol/sdk/'),
    ...vendor('^src/media/', 'file-type', 'unpdf', 'jpeg-js', 'sax', 'numfmt'),
    ...vendor('^src/(web/door|platform/way-out)\\.ts$', 'undici'),
    ...vendor('^src/web/public-address\\.ts$', 'ipaddr\\.js'),
    ...vendor('^src/web/html-to-markdown\\.ts$', 'turndown', '@mixmark-io/domino'),
    ...vendor('^src/agent/models/anthropic(-stream)?\\.ts$', '@anthropic-ai/sdk'),
    ...vendor('^src/agent/models/openai(-stream)?\\.ts$', 'openai'),
    ...vendor('^src/(agent/models/event-source|mcp/address-transport)\\.ts$', 'eventsource-parser'),
    ...vendor('^src/agent/models/scripted/', 'yaml', 'zod'),
    ...vendor('^src/agent/tools/', 'zod'),
    ...vendor('^src/config/', 'zod', 'yaml'),
    ...vendor('^src/platform/', 'pino', 'jschardet'),
    ...vendor('^src/platform/metrics-page\\.ts$', 'prom-client'),
    ...vendor('^src/http/', 'hono', '@hono/(node-server|zod-openapi)', 'zod'),
    // A name of the package's `exports`, which is not resolved to a file.
    ...allow('^src/http/', '^hono/route$'),
    ...vendor('^src/cli/', 'commander', 'string-width', '@clack/prompts'),
  ],
  allowedSeverity: 'error',
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { extensions: ['.ts', '.js', '.json'], mainFields: ['main', 'module'] },
    exclude: { path: '^(dist|coverage)/' },
  },
}
