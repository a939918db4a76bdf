import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { catalogue } from '../../adapters/index.ts'
import { configJsonSchema, type JsonSchema } from '../../src/config/json-schema.ts'
import { Secret } from '../../src/config/secrets.ts'
import { load } from './loading.ts'

type Tree = Readonly<Record<string, unknown>>

/** Every block that may be repeated is there once. */
const FILE: Tree = {
  agents: [{ id: 'main' }, { id: 'other' }],
  channels: {
    telegram: { accounts: { default: { token: '5:AA' } } },
    discord: { accounts: { default: { token: 'AA' } } },
    slack: { accounts: { default: { botToken: 'xoxb-1', appToken: 'xapp-1' } } },
  },
  models: { anthropic: { apiKey: 'key' } },
  workspaces: [{ name: 'research', model: 'anthropic/model' }],
  people: { ada: {} },
  routing: { access: { groups: [{ precheck: { model: 'anthropic/small' } }] }, dispatch: [{ match: {} }] },
  schedules: [{ id: 'news', cron: '@daily', prompt: 'Go', deliverTo: 'telegram:direct:7' }],
  session: { sendPolicy: { rules: [{}] } },
  retention: { rules: [{ match: {}, days: 9 }] },
  backup: { every: 'day' },
  tools: {
    policy: [{ tools: ['pay'], who: ['owner'], action: 'ask' }],
    web: { search: { provider: 'brave', apiKey: 'key' } },
    // Every entry of a record is named `ada`; a server has a command or an address, never both.
    mcp: {
      ada: {
        ...{ command: 'one', tier: 'workspace', folders: ['a'], allowedCommands: ['ls'] },
        arguments: [{ tools: ['read'], paths: ['path'] }],
      },
      two: { url: 'https://two.test', oauth: { clientId: 'parley' } },
    },
  },
  // A price is whole, and each kind of payer has names of its own.
  budgets: { prices: { 'openai/own': { input: 1, output: 1 } } },
  audio: { transcribe: { model: 'whisper-1' }, speak: { model: 'tts-1' } },
  http: { hooks: { ada: { secret: 'secret-of-sixteen' } } },
  hooks: {
    ada: { on: 'after_turn', command: 'one' },
    two: { on: 'after_turn', url: 'https://two.test', secret: 'key' },
  },
}

/** Values of settings that a schema alone cannot say, by their last names. */
const VALUES: readonly (readonly [name: RegExp, value: unknown])[] = [
  [/backup\.every$/, 'week'],
  [/backup\.to$/, 'elsewhere'],
  [/backup\.at$/, '04:00'],
  [/backup\.keep$/, '3d'],
  [/summaryModel$|cheaperModel$|(models|fallback)\[0\]$|\.model$/, 'scripted/echo'],
  [/\.prompt$/, 'prompt.md'],
  [/\.skills$/, 'skills'],
  [/policy\[0\]\.(tools|in)\[0\]$/, 'changed'],
  [/policy\[0\]\.(who|approvers)\[0\]$/, 'ada'],
  [/\.tools\[0\]$/, 'sessions'],
  [/Url$|(search|ada)\.url$/, 'https://model.test'],
  [/mcp\.ada\.(command|args|env|folder|headers|inside|arguments|allowedCommands|oauth)/, 'changed'],
  [/http\.hooks\.ada\.secret$/, 'another-of-sixteen'],
  [/http\.hooks\.ada\.signature$/, 'github'],
  [/http\.hooks\.ada\.deliverTo$/, 'telegram:group:-100123'],
  [/http\.hooks\.ada\.agent$/, 'main'],
  [/hooks\.ada\.on$/, 'before_tool'],
  [/hooks\.ada\./, 'changed'],
  [/\.language$/, 'de'],
  [/http\.hosts\[0\]$/, 'parley.test'],
  [/http\.origins\[0\]$/, 'https://page.test'],
  [/\.usd$|prices\.ada\.|\.maxCost$/, 7],
  [/budgets\.(strangers|\w+\.only\.ada)$/, 'unlimited'],
  [/\.voice$/, 'changed'],
  [/\.megabytes$/, 1.5],
  [/own\.ada$/, 'tools.ts'],
  [/allowedHosts\[0\]$/, '*.example.org'],
  [/store\.url$/, 'sqlite:other.db'],
  [/store\.key$/, createHash('sha256').update('the key of a store').digest('hex')],
  [/sessions\.agents\[0\]$|\.agent$/, 'other'],
  [/dispatch\[0\]\.match\.sender$|\.person$|\.ids\[0\]$|\.botIds\[0\]$/, 'telegram:7001002'],
  [/\.(chat|space|topic)$/, '-1002147483648'],
  [/\.cron$/, '@hourly'],
  [/retention\.rules\[0\]\.days$/, 10],
  [/\.timezone$/, 'Asia/Tokyo'],
  [/\.(digestOf|deliverTo)$/, 'telegram:direct:8'],
  [/\.missed$/, 'skip'],
  [/\.(id|name|account|keyPrefix|apiKey|host)$|wakeWords\[0\]$|\.ask$/, 'changed'],
]

const PAYERS = { chat: 'telegram:group:-1', topic: 'telegram:group:-1/4', schedule: 'news' }

/** These are refused where they are used, since they do not work yet. */
const REFUSED = ['routing.dispatch[0].shadow']

interface Setting {
  readonly path: string
  readonly value: unknown
}

/** Returns every setting of the schema with a value that is not its default. */
function settingsOf(schema: JsonSchema, path = ''): readonly Setting[] {
  // It takes one value alone.
  if (schema.const !== undefined) return []
  const inner = Object.entries(schema.properties ?? {}).filter(([name]) => name !== '$schema' && name !== 'accounts')
  if (inner.length > 0) return inner.flatMap(([name, one]) => settingsOf(one, path === '' ? name : `${path}.${name}`))
  if (schema.items !== undefined) return settingsOf(schema.items, `${path}[0]`)
  if (typeof schema.additionalProperties === 'object') return settingsOf(schema.additionalProperties, `${path}.ada`)
  return [{ path, value: otherValue(schema, path) }]
}

function otherValue(schema: JsonSchema, path: string): unknown {
  const { enum: choices, type, default: usual, minimum, maximum } = schema
  const given = VALUES.find(([name]) => name.test(path))
  if (Array.isArray(choices)) return choices.findLast((one) => one !== usual)
  if (type === 'boolean') return usual !== true
  if (type === 'integer') return Number(usual ?? minimum) + (usual === maximum ? -1 : 1)
  return given?.[1]
}

function withValue(tree: unknown, [key = '', ...rest]: readonly string[], value: unknown): unknown {
  const inner = rest.length === 0 ? value : withValue(Reflect.get(Object(tree), key), rest, value)
  if (!/^\d+$/.test(key)) return { ...(tree as Tree), [key]: inner }
  return Object.assign([...((tree ?? []) as unknown[])], { [key]: inner })
}

/** Returns the configuration without its warnings, as a text; and these. */
async function built(tree: unknown) {
  const { config, folder } = await load(
    JSON.stringify(tree),
    {},
    { 'prompt.md': 'Be brief.', 'tools.ts': '', 'skills/a/SKILL.md': '---\nname: a\ndescription: b\n---\nc' },
  )
  const { warnings, ...rest } = config
  const reveal = (value: unknown): unknown => {
    if (value instanceof Secret) return value.reveal()
    if (Array.isArray(value)) return value.map(reveal)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, reveal(one)]))
  }
  return { text: JSON.stringify(reveal(rest)).replaceAll(folder, ''), warnings }
}

const settings = settingsOf(configJsonSchema(catalogue)).filter(({ path }) => !REFUSED.includes(path))

test('the schema has many settings', () => expect(settings.length).toBeGreaterThan(60))

test.each(settings)('$path reaches the configuration, or is said to have no effect yet', async ({ path, value }) => {
  expect(value, 'VALUES says nothing for this setting').toBeDefined()
  const names = path
    .replace(/(mcp|(?<!http\.)hooks)\.ada\.(url|headers|trusted|oauth|secret)/, '$1.two.$2')
    .replace(/(chat|topic|schedule)\.only\.ada/, (_, kind: keyof typeof PAYERS) => `${kind}.only.${PAYERS[kind]}`)
    .replace('prices.ada', 'prices.openai/own')
    .split(/[.[\]]+/)
    .filter((name) => name !== '')

  const [before, after] = [await built(FILE), await built(withValue(FILE, names, value))]

  const idle = after.warnings.some(
    (one) => one.endsWith(': has no effect yet') && path.startsWith(one.split(':')[0] ?? ''),
  )
  expect(idle || after.text !== before.text).toBe(true)
})
