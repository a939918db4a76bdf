import { describe, expect, onTestFinished, test } from 'vitest'
import { type ChannelAdapter, ChannelDown } from '../../src/channels/adapter.ts'
import { ChannelHub, type ChannelReport } from '../../src/channels/hub.ts'
import { deferred } from '../../src/core/deferred.ts'
import { toAccountId } from '../../src/core/ids.ts'
import { startDiscordServer } from '../../src/rehearsal/discord/server.ts'
import { startSlackServer } from '../../src/rehearsal/slack/server.ts'
import { startTelegramServer } from '../../src/rehearsal/telegram/server.ts'
import { adapterFor as discordAdapter } from '../adapters/discord/rig.ts'
import { adapterFor as slackAdapter } from '../adapters/slack/rig.ts'
import { ManualClock } from '../adapters/telegram/manual-clock.ts'
import { adapterFor as telegramAdapter } from '../adapters/telegram/rig.ts'
import { RecordingSink } from '../contracts/recording-sink.ts'
import { FakeChannel } from '../delivery/fake-channel.ts'
import { AwaitedLog } from '../e2e/awaited-log.ts'

interface Opened {
  readonly hub: ChannelHub
  readonly clock: ManualClock
  readonly log: AwaitedLog
  report(account: string): ChannelReport | undefined
  /** Resolves once this account came up, then or before. */
  up(account: string): Promise<void>
}

/** What an operator reads: without the lines for debugging. */
class OperatorLog extends AwaitedLog {
  override debug = (): void => {}
}

/** A hub that keeps these accounts of one channel up; each has tried once when it resolves. */
async function open(accounts: Readonly<Record<string, ChannelAdapter>>): Promise<Opened> {
  const clock = new ManualClock()
  const log = new OperatorLog()
  const hub = new ChannelHub({ clock, logger: log })
  const ready = new Map(Object.keys(accounts).map((name) => [name, deferred()]))
  onTestFinished(() => hub.stop())
  hub.start(
    Object.entries(accounts).map(([name, adapter]) => ({
      channel: adapter.id,
      account: toAccountId(name),
      create: async () => adapter,
      sink: () => new RecordingSink(),
    })),
    (_, account) => ready.get(account)?.resolve(),
  )
  await hub.settled()
  return {
    hub,
    clock,
    log,
    report: (name) => hub.reports().find(({ account }) => account === name),
    up: async (name) => ready.get(name)?.promise,
  }
}

/** A channel whose first starts fail with these. */
class Failing extends FakeChannel {
  starts = 0
  readonly #failures: Error[]

  constructor(...failures: Error[]) {
    super(() => new ManualClock())
    this.#failures = failures
  }

  override async start(): Promise<void> {
    this.starts++
    const failure = this.#failures.shift()
    if (failure) throw failure
  }
}

describe('a channel that cannot come up', () => {
  test('is down with its reason, is tried again after a minute where somebody must mend it, and the others run', async () => {
    const refused = new Failing(new ChannelDown('the token is refused: take a new one', { permanent: true }))
    const { hub, clock, report, up } = await open({ wrong: refused, good: new Failing() })
    const address = { channel: 'telegram', account: toAccountId('wrong'), chatType: 'direct', chat: '1' } as const
    expect(report('wrong')).toMatchObject({ status: 'down', detail: 'the token is refused: take a new one' })
    expect(report('good')).toMatchObject({ status: 'up' })
    expect(hub.adapter(address)).toBeUndefined()

    await clock.advance(59_999)
    expect(refused.starts).toBe(1)
    await clock.advance(1)
    await up('wrong')
    expect(report('wrong')).toMatchObject({ status: 'up' })
    expect(report('wrong')).not.toHaveProperty('detail')
    expect(hub.adapter(address)).toBe(refused)
  })

  test('is tried ever more slowly, at least every 30 s, and the log tells of a reason once', async () => {
    const failing = new Failing(...Array.from({ length: 8 }, () => new Error('no route')))
    const { clock, log, up } = await open({ far: failing })
    const before: number[] = []
    for (const waitMs of [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]) {
      await clock.advance(waitMs - 1)
      before.push(failing.starts)
      await clock.advance(1)
    }
    await up('far')

    expect([before, failing.starts]).toEqual([[1, 2, 3, 4, 5, 6, 7, 8], 9])
    expect(log.lines.map(({ fields }) => fields.reason)).toEqual(['no route'])
  })
})

describe('what an operator mends while the daemon runs, by the real clients', () => {
  test('Telegram: a token that was refused at the start', async () => {
    const server = await startTelegramServer()
    onTestFinished(() => server.close())
    const body = { ok: false, error_code: 401, description: 'Unauthorized' }
    const action = { kind: 'answer', when: 'before', status: 401, body } as const
    const refused = server.faults.add({ method: 'getMe', times: Number.POSITIVE_INFINITY, action })
    const adapter = telegramAdapter(server)
    await mended(adapter, /refuses the token.*@BotFather/, () => refused.remove())
  })

  test('F-B13: Discord: the Message Content intent that was off', async () => {
    const server = await startDiscordServer({ messageContent: false })
    onTestFinished(() => server.close())
    await mended(discordAdapter(server), /Message Content intent is off.*Developer Portal/, () => {
      server.messageContent = true
    })
  })

  test.each([
    ['bot', 'botTokenRefusal', /refuses the bot token.*install the app again/],
    ['app-level', 'appTokenRefusal', /refuses the app-level token.*connections:write/],
  ] as const)('Slack: the %s token that was refused at the start', async (_, refusal, why) => {
    const server = await startSlackServer()
    onTestFinished(() => server.close())
    server.app[refusal] = 'invalid_auth'
    await mended(slackAdapter(server), why, () => {
      server.app[refusal] = null
    })
  })

  test.each([
    [['channels:history'], /chat:write is missing: the bot cannot answer at all.*install the app again/],
    [['chat:write', 'users:read'], /the app hears nothing.*channels:history.*message\.channels/],
  ])('Slack: an app that was only granted %j', async (scopes, why) => {
    const server = await startSlackServer({ app: { scopes } })
    onTestFinished(() => server.close())
    await mended(slackAdapter(server), why, () => {
      server.app.scopes = ['chat:write', 'channels:history']
    })
  })
})

/** Down for this reason; up within a minute of its mending. */
async function mended(adapter: ChannelAdapter, why: RegExp, mend: () => void): Promise<void> {
  const { hub, clock, report, up } = await open({ default: adapter })
  expect(report('default')).toMatchObject({ status: 'down', detail: expect.stringMatching(why) })
  mend()
  await clock.armed(60_000)
  await clock.advance(60_000)
  await up('default')
  expect(report('default')).not.toMatchObject({ status: 'down' })
  await hub.stop()
}
