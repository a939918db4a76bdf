import { setImmediate as turn } from 'node:timers/promises'
import { afterEach, describe, expect, test } from 'vitest'
import { ManualClock } from './manual-clock.ts'
import { RecordingLogger } from './recording-logger.ts'
import { openRig, type Rig, SECRET, webhookSettings } from './rig.ts'

const rigs: Rig[] = []
afterEach(async () => {
  for (const rig of rigs.splice(0)) await rig.close()
})

/** An account with a webhook; what was not taken once is not sent again before the test says so. */
async function receiving() {
  const clock = new ManualClock()
  const platform = new ManualClock()
  const logger = new RecordingLogger()
  const settings = await webhookSettings()
  const rig = await openRig({
    settings,
    clock,
    logger,
    server: { redelivery: { clock: platform, waitMs: () => 3_600_000, answerMs: 10_000_000 } },
  })
  rigs.push(rig)
  const { ledger, world } = rig.server
  await rig.adapter.start(rig.sink, rig.signal)
  const people = ['Ada', 'Bob'].map((firstName) => world.addUser({ firstName }))
  const say = (who: 0 | 1, text: string) => world.say({ from: people[who] ?? 0, text })
  /** Whether a question is under way: its deadline is set. */
  const isAsking = () => Promise.race([clock.armed(15_000).then(() => true), turn().then(() => false)])
  /** Lets time pass until the account has asked once more and read the answer. */
  const asks = async () => {
    const after = ledger.mark()
    while (ledger.calls('getWebhookInfo', after).length === 0) {
      await clock.advance(30_000)
      while (await isAsking()) await turn()
    }
  }
  const failOnce = async () => {
    rig.sink.accepting = () => Promise.reject(new Error('no'))
    say(0, 'held back')
    await ledger.next((entry) => entry.kind === 'undelivered')
    rig.sink.accepting = () => Promise.resolve()
  }
  const webhookOf = (url: string) => world.bot().webhook.set({ url, secretToken: SECRET, maxConnections: 40 })
  return { ...rig, logger, ledger, platform, say, asks, failOnce, webhookOf, url: settings.webhookUrl }
}

describe('F-K12: a webhook that brings nothing although updates wait', () => {
  test('is found out by two questions, with what the platform says of it, and is up once something comes', async () => {
    const { adapter, logger, platform, asks, failOnce, say, sink } = await receiving()
    await failOnce()
    say(1, 'well')
    await sink.committed(1)
    expect(adapter.health().status).toBe('up')
    await asks()
    expect(adapter.health().status).toBe('up')
    await asks()
    expect(adapter.health()).toMatchObject({
      status: 'down',
      detail: expect.stringMatching(
        /^Telegram holds 1 update for this bot, and its webhook brings nothing; its last error: Wrong response from the webhook: 503 Service Unavailable: see that 127.0.0.1:\d+ leads to 127.0.0.1:\d+\/telegram\/webhook$/,
      ),
    })
    expect(logger.lines.filter(({ sentence }) => sentence === 'Telegram is down.').at(-1)?.fields.detail).toMatch(/503/)
    await platform.advance(3_600_000)
    await sink.committed(2)
    expect(sink.texts).toEqual(['well', 'held back'])
    expect(adapter.health().status).toBe('up')
  })

  test('is up again when nothing is held any more', async () => {
    const { adapter, asks, failOnce, server, say, sink } = await receiving()
    await failOnce()
    say(1, 'well')
    await sink.committed(1)
    await asks()
    await asks()
    expect(adapter.health().status).toBe('down')
    server.world.bot().queue.clear()
    await asks()
    expect(adapter.health().status).toBe('up')
  })
})

test('a webhook that another program took over, or away, is said, and is no trouble once it is ours again', async () => {
  const { adapter, asks, webhookOf, url } = await receiving()
  webhookOf('https://bot.test/secret-path')
  await asks()
  expect(adapter.health()).toMatchObject({
    status: 'down',
    detail: expect.stringContaining('another webhook, at bot.test,'),
  })
  expect(adapter.health().detail).not.toContain('secret-path')
  webhookOf('')
  await asks()
  expect(adapter.health().detail).toContain('Telegram has no webhook for this token now')
  webhookOf(url.replace('http://', 'HTTP://'))
  await asks()
  expect(adapter.health().status).toBe('up')
})

test('a quiet account is asked about, proves that it hears, and stays up over one question without an answer', async () => {
  const { adapter, asks, server } = await receiving()
  const before = adapter.health().lastProofAt ?? 0
  await asks()
  expect(adapter.health().lastProofAt).toBeGreaterThan(before)
  const reset = { method: 'getWebhookInfo', action: { kind: 'reset', when: 'after' } } as const
  server.faults.add({ ...reset, times: 2 })
  await asks()
  expect(adapter.health().status).toBe('up')
  await asks()
  expect(adapter.health()).toMatchObject({
    status: 'down',
    detail: expect.stringContaining('getWebhookInfo at 127.0.0.1'),
  })
  await asks()
  expect(adapter.health().status).toBe('up')
})

test('a token that was revoked is said at the first question', async () => {
  const { adapter, asks, server } = await receiving()
  const body = { ok: false, error_code: 401, description: 'Unauthorized' }
  server.faults.add({ method: 'getWebhookInfo', action: { kind: 'answer', when: 'after', status: 401, body } })
  await asks()
  expect(adapter.health()).toMatchObject({ status: 'down', detail: expect.stringContaining('refuses the token') })
})
