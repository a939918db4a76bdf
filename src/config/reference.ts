import { INHERIT, SESSION_SETTINGS, SETTING_NAMES, takenInChat, typedInChat } from '../core/session-settings.ts'
import type { JsonSchema } from './json-schema.ts'

interface Setting {
  readonly path: string
  readonly schema: JsonSchema
}

const INTRODUCTION = `# Every setting

Generated from the schema by \`npm run reference\`; \`parley.schema.json\` is the same for editors. Start from
[\`parley.example.yaml\`](parley.example.yaml); [\`first-bot.md\`](first-bot.md) has the places to click at each platform. What is left
out keeps its default. \`parley config check\` finds mistakes, \`parley config explain\` says what a file means.

Secrets are references, and work in any text: \`\${env:NAME}\` is a variable of the environment, \`\${file:PATH}\` a file, relative
to the configuration, \`\${credential:NAME}\` a credential of the systemd unit (\`LoadCredential=\`). \`<name>\` stands for a name you
choose, \`[]\` for each entry of a list.
`

const SESSION_INTRODUCTION = `## For one session

Not in the file: an owner sets these in the chat, with \`parley sessions patch <name>\`, or with \`PATCH /v1/sessions/<name>\` of the
local API, whose fields have these names. \`${INHERIT[0]}\` (null in the API) follows the configuration again. The command alone,
\`/status\` in the chat and \`parley sessions show <name>\` say what is set; \`/new\` keeps it.
`

/** Returns the reference page in Markdown: one table for each part of the file, one line for each setting. */
export function configReference(schema: JsonSchema): string {
  const parts = Object.entries(schema.properties ?? {}).filter(([key]) => key !== '$schema')
  return `${[INTRODUCTION, ...parts.map(([key, part]) => section(key, part)), sessionSection()].join('\n')}`
}

/** Returns the part for what is not in the file: the settings of one session. */
function sessionSection(): string {
  const lines = SETTING_NAMES.map((name) => {
    const setting = SESSION_SETTINGS[name]
    const { value, flag, command, example } = setting
    return row([
      `\`${name}\``,
      value.takes.replaceAll('<', '\\<'),
      `\`/${command.name}\` ${takenInChat(setting).replaceAll('<', '\\<')}`,
      `\`--${flag.name} <${flag.value}>\``,
      `\`/${command.name} ${typedInChat(setting, example)}\`, \`parley sessions patch <session> --${flag.name} ${example}\``,
      flag.description,
    ])
  })
  return `${SESSION_INTRODUCTION}\n| setting | values | in chat | option | example | meaning |\n| --- | --- | --- | --- | --- | --- |\n${lines.join('\n')}\n`
}

function section(key: string, part: JsonSchema): string {
  const lines = settingsIn({ path: key, schema: part }).map(({ path, schema }) => {
    const cells = [
      `\`${path}\``,
      valuesOf(schema),
      defaultOf(schema),
      String(schema.description ?? '').replaceAll('<', '\\<'),
    ]
    return row(cells)
  })
  return `## ${key}\n\n| setting | values | default | meaning |\n| --- | --- | --- | --- |\n${lines.join('\n')}\n`
}

function row(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
}

/** A setting with what stands below it; one that only groups others is left out unless it is described. */
function settingsIn({ path, schema }: Setting): readonly Setting[] {
  const { properties = {}, additionalProperties, items } = schema
  const below = [
    ...Object.entries(properties).map(([key, one]) => ({ path: `${path}.${key}`, schema: one })),
    ...(typeof additionalProperties === 'object' ? [{ path: `${path}.<name>`, schema: additionalProperties }] : []),
    ...(items?.properties === undefined ? [] : [{ path: `${path}[]`, schema: items }]),
  ].flatMap(settingsIn)
  return below.length === 0 || schema.description !== undefined ? [{ path, schema }, ...below] : below
}

function valuesOf({
  enum: values,
  anyOf,
  type,
  items,
  properties,
  additionalProperties,
  const: only,
  ...bounds
}: JsonSchema): string {
  if (only !== undefined) return `\`${only}\``
  if (Array.isArray(values)) return values.map((value) => `\`${value}\``).join(', ')
  if (Array.isArray(anyOf)) return [...new Set(anyOf.map((one: JsonSchema) => valuesOf(one)))].join(' or ')
  if (items !== undefined) return `list of ${items.properties === undefined ? valuesOf(items) : 'settings'}`
  if (properties !== undefined || typeof additionalProperties === 'object') return 'settings'
  if (type === 'integer' || type === 'number') return rangeOf(type, bounds)
  return type === 'boolean' ? '`true`, `false`' : 'text'
}

function rangeOf(type: string, { minimum, maximum }: JsonSchema): string {
  const most = typeof maximum === 'number' && maximum < Number.MAX_SAFE_INTEGER ? ` to ${maximum}` : ' or more'
  const name = type === 'integer' ? 'whole number' : 'number'
  return typeof minimum === 'number' && minimum > Number.MIN_SAFE_INTEGER ? `${name}, ${minimum}${most}` : name
}

function defaultOf({ default: value }: JsonSchema): string {
  const empty = typeof value === 'object' && value !== null && Object.keys(value).length === 0
  return value === undefined || empty ? '' : `\`${JSON.stringify(value)}\``
}
