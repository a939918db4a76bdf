import type { AccountVariable, Channels } from '../core/channel-traits.ts'
import type { ChannelId } from '../core/ids.ts'
import { nearMatch } from '../core/near-match.ts'
import { type Surroundings, usualConfigFile } from './places.ts'

type Env = Surroundings['env']

/**
 * The blocks a configuration leaves out, from the variables that are enough without any file: the variables stay
 * references, so that they are resolved like those of a file.
 */
export function withEnvironment(tree: unknown, env: Env, known: Channels): unknown {
  if (!isRecord(tree)) return tree
  const filled: Record<string, unknown> = Object.fromEntries(Object.entries(tree).filter(([, block]) => block !== null))
  if (filled.channels === undefined) {
    const channels = channelsOf(env, known)
    if (Object.keys(channels).length > 0) filled.channels = channels
  }
  if (isSet(env.ANTHROPIC_API_KEY)) filled.models = withKey(filled.models, 'anthropic', 'ANTHROPIC_API_KEY')
  if (isSet(env.OPENAI_API_KEY)) filled.models = withKey(filled.models, 'openai', 'OPENAI_API_KEY')
  return filled
}

function channelsOf(env: Env, known: Channels): Readonly<Record<string, unknown>> {
  const enough = known.platforms.flatMap((channel) => {
    const { variables } = known.traits(channel)
    if (variables.length === 0 || !variables.every(({ variable }) => isSet(env[variable]))) return []
    const settings = variables.map(({ setting, variable }) => [setting, reference(variable)] as const)
    return [[channel, oneAccount(Object.fromEntries(settings))] as const]
  })
  return Object.fromEntries(enough)
}

function oneAccount(settings: Readonly<Record<string, string>>): unknown {
  return { accounts: { default: settings } }
}

/** OpenAI's key goes to OpenAI alone: a block that names another server has its own key there, or none. */
function withKey(models: unknown, provider: 'anthropic' | 'openai', variable: string): unknown {
  const known = models ?? {}
  if (!isRecord(known)) return models
  const block = known[provider] ?? {}
  if (!isRecord(block) || (provider === 'openai' && 'baseUrl' in block)) return models
  return { ...known, [provider]: { apiKey: reference(variable), ...block } }
}

/** Variables that are set and of no use so: without their counterpart, or by a name that is not read. */
export function environmentWarnings(env: Env, known: Channels): readonly string[] {
  return known.platforms.flatMap((channel) => {
    const { name, variables } = known.traits(channel)
    const [set] = variables.filter(({ variable }) => isSet(env[variable]))
    const absent = variables.filter(({ variable }) => !isSet(env[variable]))
    if (set === undefined) return misnamed(env, name, variables)
    return absent.map(
      ({ variable, hint }) =>
        `${set.variable}: ${name} needs ${variable} beside it${hint === undefined ? '' : `, ${hint}`}`,
    )
  })
}

/** A variable that begins like those of a platform and nearly has the name of one, as `TELEGRAM_TOKEN` does. */
function misnamed(env: Env, name: string, variables: readonly AccountVariable[]): readonly string[] {
  const right = variables.map(({ variable }) => variable)
  const begins = new Set(right.map((variable) => variable.slice(0, variable.indexOf('_') + 1)))
  const alike = Object.keys(env).filter((one) => isSet(env[one]) && [...begins].some((begin) => one.startsWith(begin)))
  return alike.flatMap((one) => {
    const meant = nearMatch(one, right)
    return meant === undefined ? [] : [`${one}: is not read; ${name} reads ${meant}`]
  })
}

/** Begins the guide for whoever has configured nothing. */
export const NOTHING_YET = 'Nothing is configured yet.'

/** Returns the first steps for a newcomer who started the daemon with nothing configured. */
export function choicesText(surroundings: Surroundings, known: Channels, also: readonly string[]): string {
  const file = usualConfigFile(surroundings) ?? '<file>, named by --config'
  const { channel, variable } = simplest(known)
  const { name, firstSteps = 'start with its token' } = known.traits(channel)
  const others = known.platforms.filter((one) => one !== channel).map(known.traits)
  return [
    `${NOTHING_YET} Choose one:`,
    '',
    '  1. Set a bot up step by step, from its token to its first answer:',
    '       parley init                 (from a checkout: npm run parley -- init)',
    '  2. See it work, without any token:',
    '       parley demo                 (from a checkout: npm run demo)',
    `  3. Connect a ${name} bot by variables alone:`,
    `     ${firstSteps}:`,
    `       ${variable}=<token> parley start`,
    `       (from a checkout: ${variable}=<token> npm start)`,
    '     With ANTHROPIC_API_KEY or OPENAI_API_KEY set as well a model answers;',
    '     without one of them the bot says that it has none.',
    `     ${others.map((one) => `${one.name}: ${variableNames(one.variables)}.`).join(' ')}`,
    `  4. Write a configuration file:   ${file}`,
    '     config/parley.example.yaml is one to start from.',
    ...also.map((line) => `\n  ${line}`),
  ].join('\n')
}

/** The variables that are enough to start, a line a platform: `Telegram: TELEGRAM_BOT_TOKEN`. */
export function variableLines({ platforms, traits }: Channels): readonly string[] {
  const enough = platforms.map(traits).filter(({ variables }) => variables.length > 0)
  return enough.map(({ name, variables }) => `${name}: ${variableNames(variables)}`)
}

/** The channel that needs the fewest values, and the first variable of it: what a remedy names. */
export function simplest({ platforms, traits }: Channels): { readonly channel: ChannelId; readonly variable: string } {
  const ranked = platforms.flatMap((channel) => {
    const { variables } = traits(channel)
    return variables.map(({ variable }) => ({ channel, variable, needs: variables.length }))
  })
  const [first] = ranked.toSorted((a, b) => a.needs - b.needs)
  return first ?? { channel: '<channel>', variable: '<variable>' }
}

function variableNames(variables: readonly AccountVariable[]): string {
  return variables.length === 0 ? 'by a file' : variables.map(({ variable }) => variable).join(' and ')
}

function isSet(value: string | undefined): value is string {
  return value !== undefined && value.trim() !== ''
}

function reference(variable: string): string {
  return `\${env:${variable}}`
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
