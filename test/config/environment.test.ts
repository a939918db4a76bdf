import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { catalogue } from '../../adapters/index.ts'
import { loadConfig } from '../../src/config/load-config.ts'
import { TOKEN, temporaryFolder } from './loading.ts'

type Env = Readonly<Record<string, string | undefined>>

const fromEnvironment = (env: Env, folder = temporaryFolder()) =>
  loadConfig({ env: { HOME: folder, ...env }, cwd: folder, catalogue })

describe('without a file', () => {
  test('a bot token is enough: one agent without a model, which a warning says', async () => {
    const folder = temporaryFolder()

    const { config, secrets } = await fromEnvironment({ TELEGRAM_BOT_TOKEN: TOKEN }, folder)

    expect(config).toMatchObject({
      agents: [{ id: 'main', model: 'none', tools: ['time'] }],
      models: {},
      channels: { telegram: { accounts: { default: { token: TOKEN, mode: 'polling' } } } },
      store: { path: join(folder, '.local/state/parley/parley.db') },
      dataDir: join(folder, '.local/state/parley'),
      scriptFolder: folder,
      warnings: [
        'agents[0].model: no model key is set, so the agent can only say that it has none; set ANTHROPIC_API_KEY or OPENAI_API_KEY',
      ],
    })
    expect(config.file).toBeUndefined()
    expect(secrets).toEqual([TOKEN])
  })

  test('with a key for a model the agent has a model', async () => {
    const { config, secrets } = await fromEnvironment({ TELEGRAM_BOT_TOKEN: TOKEN, ANTHROPIC_API_KEY: 'sk-ant-canary' })

    expect(config.agents[0]?.model).toBe('anthropic/claude-sonnet-5-5')
    expect(config.models.anthropic?.apiKey?.reveal()).toBe('sk-ant-canary')
    expect(config.warnings).toEqual([])
    expect(secrets).toEqual([TOKEN, 'sk-ant-canary'])
  })

  test('the token of a Discord bot is enough', async () => {
    const { config, secrets } = await fromEnvironment({ DISCORD_BOT_TOKEN: 'discord-canary' })

    expect(config.channels.discord?.accounts.default).toMatchObject({ token: 'discord-canary', streaming: true })
    expect(secrets).toEqual(['discord-canary'])
  })

  test('the two tokens of a Slack app are enough', async () => {
    const { config, secrets } = await fromEnvironment({
      SLACK_BOT_TOKEN: 'xoxb-canary',
      SLACK_APP_TOKEN: 'xapp-canary',
    })

    expect(config.channels.slack?.accounts.default).toMatchObject({ botToken: 'xoxb-canary', mode: 'socket' })
    expect(secrets).toEqual(['xoxb-canary', 'xapp-canary'])
  })

  test('half of a Slack app is named with what is missing', async () => {
    const { config } = await fromEnvironment({ TELEGRAM_BOT_TOKEN: TOKEN, SLACK_BOT_TOKEN: 'xoxb-canary' })

    expect(config.warnings[0]).toContain('Slack needs SLACK_APP_TOKEN beside it')
    expect(Object.keys(config.channels)).toEqual(['telegram'])
  })

  test.each([
    ['nothing', {}],
    ['blank variables', { TELEGRAM_BOT_TOKEN: '  ', ANTHROPIC_API_KEY: '' }],
  ])('%s prints the choices', async (_, env) => {
    const folder = temporaryFolder()

    const refused = fromEnvironment(env, folder)

    await expect(refused).rejects.toMatchObject({ code: 'config' })
    for (const choice of [
      '@BotFather',
      'TELEGRAM_BOT_TOKEN=<token>',
      'parley demo',
      join(folder, '.config/parley/parley.yaml'),
    ]) {
      await expect(refused).rejects.toThrow(choice)
    }
  })

  test.each([
    ['TELEGRAM_TOKEN', 'Telegram reads TELEGRAM_BOT_TOKEN'],
    ['DISCORD_TOKEN', 'Discord reads DISCORD_BOT_TOKEN'],
    ['SLACK_APPTOKEN', 'Slack reads SLACK_APP_TOKEN'],
  ])('%s is named as one that is not read, with the right name', async (variable, remedy) => {
    const refused = fromEnvironment({ [variable]: 'canary' })
    await expect(refused).rejects.toThrow(`${variable}: is not read; ${remedy}`)
    await expect(refused).rejects.not.toThrow('canary')
  })

  test('what another program reads is not', async () => {
    const { config } = await fromEnvironment({ TELEGRAM_BOT_TOKEN: TOKEN, SLACK_WEBHOOK: 'x', DISCORD_GUILD_ID: 'x' })
    expect(config.warnings.filter((warning) => warning.includes('is not read'))).toEqual([])
  })

  test('the choices fit a terminal of 80 columns', async () => {
    const env = { HOME: '/home/ada' }
    const refused: unknown = await loadConfig({ env, cwd: '/', catalogue }).catch((error: unknown) => error)
    expect(
      String(refused)
        .split('\n')
        .filter((line) => line.length > 80),
    ).toEqual([])
  })
})
