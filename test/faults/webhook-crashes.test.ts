import { describe, expect, it, type TestContext } from 'vitest'
import { freePort } from '../adapters/free-port.ts'
import type { FailpointSpec } from './kill-switch.ts'
import { CASE, rounds } from './rounds.ts'
import { ADA, BOB, KILLED, type Scene, startScene } from './scene.ts'

const SECRET = 'canary-of-the-webhook'

/** A daemon that Telegram posts to. */
async function startPosted(test: TestContext): Promise<Scene & { readonly url: string }> {
  const scene = await startScene(test)
  const port = await freePort()
  const url = `http://127.0.0.1:${port}/telegram/webhook`
  scene.changeTelegram({ mode: 'webhook', webhookUrl: url, webhookSecret: SECRET, listen: { port } })
  return { ...scene, url }
}

const KILLS: readonly { readonly id: string; readonly point: FailpointSpec; readonly what: string }[] = [
  { id: 'F-A01', point: 'CP1-received', what: 'posted, not stored' },
  { id: 'F-A02', point: 'CP2-committed', what: 'stored, not answered with 200' },
  { id: 'F-A03', point: 'CP3-acked', what: 'answered with 200' },
  { id: 'F-A03', point: 'CP4-claimed', what: 'the turn claimed' },
]

describe.concurrent('a kill on the way of a message that was posted to a webhook', CASE, () => {
  for (const { id, point, what } of rounds(KILLS, 4)) {
    it(`${id}: ${what} (${point}): one turn, one answer`, async (test) => {
      const scene = await startPosted(test)
      const { ledger, world } = scene.telegram
      await scene.daemon.start(point)
      const said = world.say({ from: ADA, text: 'hello' })
      expect(await scene.daemon.exited()).toEqual(KILLED)
      if (point === 'CP3-acked') await ledger.confirmed(ledger.updateIdOf(said))
      else if (point !== 'CP4-claimed') expect(ledger.count(({ kind }) => kind === 'confirmed')).toBe(0)
      await scene.daemon.start()
      await scene.sent('echo hello')
      await ledger.confirmed(ledger.updateIdOf(said))
      const { inbox, turns } = await scene.finish()
      expect(scene.texts(ADA)).toEqual(['echo hello'])
      expect(inbox).toMatchObject([{ outcome: 'answered' }])
      expect(turns).toMatchObject([{ state: 'completed' }])
    })
  }

  for (const point of rounds(['CP1-received:7', 'CP2-committed:7'] as const, 2)) {
    it(`F-A18: many write while it dies (${point}): all are answered once, each chat in order`, async (test) => {
      const scene = await startPosted(test)
      const { ledger, world } = scene.telegram
      await scene.daemon.start(point)
      const people = Array.from({ length: 6 }, (_, at) => world.addUser({ id: 2000 + at, firstName: `P${at}` }).id)
      const said = [1, 2, 3].flatMap((part) => people.map((from) => world.say({ from, text: `part ${part}` })))
      expect(await scene.daemon.exited()).toEqual(KILLED)
      await scene.daemon.start()
      await Promise.all(said.map((message) => ledger.confirmed(ledger.updateIdOf(message))))
      await scene.settle(people)
      await scene.finish()
      for (const chat of people) {
        // A send that was under way may have arrived or not: its marked repeat is the same answer.
        const answers = new Set(scene.texts(chat).map((text) => text.replace('(repeat) ', '')))
        expect([...answers].join('\n').match(/part \d/g)).toEqual(['part 1', 'part 2', 'part 3'])
      }
    })
  }

  it('F-K05: what comes without the secret is stored nowhere', async (test) => {
    const scene = await startPosted(test)
    await scene.daemon.start()
    const forged = {
      update_id: 1,
      message: { message_id: 1, date: 1, chat: { id: ADA, type: 'private' }, text: 'forged' },
    }
    for (const secret of ['', 'wrong', `${SECRET}0`]) {
      const headers = { 'x-telegram-bot-api-secret-token': secret }
      const response = await fetch(scene.url, { method: 'POST', body: JSON.stringify(forged), headers })
      expect(response.status).toBe(403)
    }
    await scene.settle([ADA])
    const { inbox } = await scene.finish()
    expect(inbox).toHaveLength(1)
  })

  it('F-A18: from polling to a webhook and back, killed each time: what was said meanwhile is answered once', async (test) => {
    const scene = await startPosted(test)
    const { ledger, world } = scene.telegram
    for (const mode of ['polling', 'webhook', 'polling', 'webhook'] as const) {
      const round = ledger.mark()
      scene.changeTelegram({ mode })
      world.say({ from: ADA, text: `before ${round}` })
      await scene.daemon.start()
      world.say({ from: BOB, text: `by ${mode} ${round}` })
      await Promise.all([scene.sent(`before ${round}`), scene.sent(`by ${mode} ${round}`)])
      expect(await scene.daemon.kill()).toEqual(KILLED)
    }
    await scene.daemon.start()
    await scene.settle([ADA, BOB])
    const { inbox } = await scene.finish()
    expect(inbox).toHaveLength(10)
    const changes = ['setWebhook', 'deleteWebhook'].flatMap((method) => ledger.calls(method))
    expect(changes.filter(({ params }) => 'drop_pending_updates' in params)).toEqual([])
  })
})
