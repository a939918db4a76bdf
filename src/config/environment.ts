import { type Surroundings, usualConfigFile } from './places.ts'

type Env = Surroundings['env']

/**
 * The blocks a configuration leaves out, from the variables that are enough without any file (DESIGN section 5): the
 * variables stay references, so that they are resolved like those of a file.
 */
export function withEnvironment(tree: unknown, env: Env): unknown {
  if (!isRecord(tree)) return tree
  const filled: Record<string, unknown> = Object.fromEntries(Object.entries(tree).filter(([, block]) => block !== null))
  if (filled.channels === undefined && isSet(env.TELEGRAM_BOT_TOKEN)) {
    filled.channels = { telegram: { accounts: { default: { token: reference('TELEGRAM_BOT_TOKEN') } } } }
  }
  if (isSet(env.ANTHROPIC_API_KEY)) filled.models = withAnthropicKey(filled.models)
  return filled
}

function withAnthropicKey(models: unknown = {}): unknown {
  if (!isRecord(models)) return models
  const block = models.anthropic ?? {}
  return isRecord(block) ? { ...models, anthropic: { apiKey: reference('ANTHROPIC_API_KEY'), ...block } } : models
}

/** Variables that are set for channels which cannot be had yet. */
export function environmentWarnings(env: Env): readonly string[] {
  const warnings: string[] = []
  if (isSet(env.DISCORD_BOT_TOKEN)) warnings.push('DISCORD_BOT_TOKEN: the channel discord is not available yet')
  if (isSet(env.SLACK_BOT_TOKEN)) warnings.push('SLACK_BOT_TOKEN: the channel slack is not available yet')
  return warnings
}

/** What a newcomer reads who started the daemon with nothing configured. */
export function choicesText(surroundings: Surroundings, also: readonly string[]): string {
  const file = usualConfigFile(surroundings) ?? '<file>, named by --config'
  return [
    'Nothing is configured yet. Choose one:',
    '',
    '  1. See it work, without any token:   parley demo   (from a checkout: npm run demo)',
    '  2. Connect a Telegram bot: write to @BotFather in Telegram, send /newbot, and start again with its token:',
    '       TELEGRAM_BOT_TOKEN=<token> parley start   (from a checkout: TELEGRAM_BOT_TOKEN=<token> npm start)',
    '     With ANTHROPIC_API_KEY set as well a model answers; without it the bot repeats what it is told.',
    `  3. Write a configuration file:   ${file}`,
    '     config/parley.example.yaml shows every setting.',
    ...also.map((line) => `\n  ${line}`),
  ].join('\n')
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
