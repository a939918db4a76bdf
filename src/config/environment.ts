import { type Surroundings, usualConfigFile } from './places.ts'

type Env = Surroundings['env']

/**
 * The blocks a configuration leaves out, from the variables that are enough without any file (DESIGN section 5): the
 * variables stay references, so that they are resolved like those of a file.
 */
export function withEnvironment(tree: unknown, env: Env): unknown {
  if (!isRecord(tree)) return tree
  const filled: Record<string, unknown> = Object.fromEntries(Object.entries(tree).filter(([, block]) => block !== null))
  if (filled.channels === undefined) {
    const channels = channelsOf(env)
    if (Object.keys(channels).length > 0) filled.channels = channels
  }
  if (isSet(env.ANTHROPIC_API_KEY)) filled.models = withAnthropicKey(filled.models)
  return filled
}

function channelsOf(env: Env): Readonly<Record<string, unknown>> {
  const channels: Record<string, unknown> = {}
  if (isSet(env.TELEGRAM_BOT_TOKEN)) channels.telegram = oneAccount({ token: reference('TELEGRAM_BOT_TOKEN') })
  if (isSet(env.DISCORD_BOT_TOKEN)) channels.discord = oneAccount({ token: reference('DISCORD_BOT_TOKEN') })
  if (isSet(env.SLACK_BOT_TOKEN) && isSet(env.SLACK_APP_TOKEN)) {
    const tokens = { botToken: reference('SLACK_BOT_TOKEN'), appToken: reference('SLACK_APP_TOKEN') }
    channels.slack = oneAccount(tokens)
  }
  return channels
}

function oneAccount(settings: Readonly<Record<string, string>>): unknown {
  return { accounts: { default: settings } }
}

function withAnthropicKey(models: unknown = {}): unknown {
  if (!isRecord(models)) return models
  const block = models.anthropic ?? {}
  return isRecord(block) ? { ...models, anthropic: { apiKey: reference('ANTHROPIC_API_KEY'), ...block } } : models
}

/** Variables that are set and of no use so, without their counterpart. */
export function environmentWarnings(env: Env): readonly string[] {
  const warnings: string[] = []
  if (isSet(env.SLACK_BOT_TOKEN) && !isSet(env.SLACK_APP_TOKEN)) {
    warnings.push('SLACK_BOT_TOKEN: Slack needs SLACK_APP_TOKEN beside it, the app-level token with connections:write')
  }
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
    '     Discord: DISCORD_BOT_TOKEN. Slack: SLACK_BOT_TOKEN and SLACK_APP_TOKEN.',
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
