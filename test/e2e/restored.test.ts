import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import type { Clock } from '../../src/core/clock.ts'
import { household } from '../fakes/routing-policy.ts'
import { withDatabase } from '../store/temp-database.ts'
import { type Household, startHousehold } from './household.ts'
import { setClock } from './set-clock.ts'
import { startTwoMore, type TwoMore } from './three-platforms.ts'

const ADA = 111
const BOB = 444
const access = { direct: 'public', groups: [] } as const

/** A household whose database a test can copy and put back. */
async function startCopied(beside?: TwoMore, more: { readonly clock?: Clock } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'parley-restored-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'parley.db')
  let aheadMs = 0
  const telegram = { now: () => Date.now() + aheadMs }
  const ours = { ...more, telegram, streaming: false, config: { store: { path } } }
  const house = await startHousehold(
    beside ? { ...ours, beside, routing: { people: household().people } } : { ...ours, routing: { access } },
  )
  return {
    house,
    /** What people say from now on is later than the start by more than the platform's second. */
    later() {
      aheadMs = 2_000
    },
    copy(marker?: 'and its marker') {
      if (marker) copyFileSync(`${path}.marker`, `${path}.copy.marker`)
      withDatabase(path, (database) => database.exec(`VACUUM INTO '${path}.copy'`))
    },
    /** Stops the daemon, puts the copy in the place of what it had written meanwhile, and starts it again. */
    async putBack(between: () => void = () => {}) {
      await house.daemon.stop()
      between()
      copyFileSync(`${path}.copy`, path)
      if (existsSync(`${path}.copy.marker`)) copyFileSync(`${path}.copy.marker`, `${path}.marker`)
      await house.restart()
    },
  }
}

async function heard({ telegram: { world, ledger } }: Household, from: number, text: string): Promise<void> {
  const mark = ledger.mark()
  world.say({ from, text })
  await ledger.nextFromBot('sent', { after: mark, where: (entry) => entry.text.includes(text) })
}

/** A copy that was made while an answer to Bob waited to be sent, which left afterwards. */
async function withQueued() {
  const scene = await startCopied()
  const { house } = scene
  const { world, ledger, faults } = house.telegram
  await heard(house, ADA, 'hello')
  const body = { ok: false, error_code: 429, description: 'Too Many Requests', parameters: { retry_after: 2 } }
  const refused = faults.add({
    method: 'sendMessage',
    where: ({ params }) => String(params.chat_id) === String(BOB),
    action: { kind: 'answer', when: 'before', status: 429, body },
  })
  world.say({ from: BOB, text: 'the queued one' })
  await refused.reached
  await vi.waitFor(
    async () => expect((await house.daemon.operator.status()).outbox).toMatchObject({ waiting: 1 }),
    20_000,
  )
  scene.copy()
  await ledger.nextFromBot('sent', { where: ({ text }) => text.includes('the queued one') })
  await heard(house, ADA, 'said after the copy')
  return scene
}

const texts = ({ telegram: { world } }: Household, chat: number) =>
  world.messages(chat, { by: 'bot' }).map(({ message }) => message.text ?? '')

it('F-F08: a database that was put back sends nothing it had queued and answers nothing older until an owner chooses', async () => {
  const { house, putBack, later } = await withQueued()
  const { world, ledger } = house.telegram
  const before = ledger.mark()
  await putBack(() => world.say({ from: BOB, text: 'while it was away' }))
  const notice = await ledger.nextFromBot('sent', { after: before, where: ({ text }) => text.includes('older copy') })
  expect(notice.chatId).toBe(ADA)
  expect(notice.text).toContain('What I was asked to forget since then is in it again')
  later()
  await heard(house, BOB, 'and now?')
  expect(texts(house, BOB).filter((text) => text.includes('queued one'))).toHaveLength(1)
  // It is context of what is asked now, and has no answer of its own.
  expect(texts(house, BOB).filter((text) => text.includes('while it was away'))).toEqual([
    'echo while it was away\nand now?',
  ])
  expect(await house.daemon.operator.status()).toMatchObject({ restored: { state: 'held', held: 1 } })
  const report = await house.daemon.operator.outbox.restoration()
  expect(report?.unanswered).toMatchObject([{ address: 'telegram:direct:444' }])

  const mark = ledger.mark()
  world.say({ from: ADA, text: '/outbox resume' })
  await ledger.nextFromBot('sent', { after: mark, where: ({ chatId }) => chatId === ADA })
  await ledger.nextFromBot('sent', { after: mark, where: ({ text }) => text.includes('the queued one') })
  expect(await house.daemon.operator.status()).not.toHaveProperty('restored')
  await expect(house.daemon.operator.outbox.decide('resume')).rejects.toMatchObject({ code: 'conflict' })
})

it('F-F08: what an owner discards is never sent, and the choice holds after the next start', async () => {
  const { house, putBack, later } = await withQueued()
  await putBack()
  later()
  expect(await house.daemon.operator.outbox.decide('discard')).toMatchObject({ state: 'discarded', held: 0 })
  await house.restart()
  await heard(house, BOB, 'still there?')
  expect(texts(house, BOB).filter((text) => text.includes('queued one'))).toHaveLength(1)
  expect(await house.daemon.operator.status()).not.toHaveProperty('restored')
})

it('F-F08: of two decisions at once one counts, and the other is told that nothing is held', async () => {
  const { house, putBack } = await withQueued()
  await putBack()
  const { outbox } = house.daemon.operator
  const [resumed, discarded] = await Promise.allSettled([outbox.decide('resume'), outbox.decide('discard')])
  expect(resumed).toMatchObject({ status: 'fulfilled', value: { state: 'resumed', held: 0 } })
  expect(discarded).toMatchObject({ status: 'rejected', reason: { code: 'conflict' } })
})

it('F-F08: what waits for the decision still waits after the next start', async () => {
  const { house, putBack, later } = await withQueued()
  await putBack()
  await house.restart()
  later()
  await heard(house, BOB, 'still there?')
  expect(texts(house, BOB).filter((text) => text.includes('queued one'))).toHaveLength(1)
  expect(await house.daemon.operator.status()).toMatchObject({ restored: { state: 'held', held: 1 } })
})

it('F-F08: where all of the folder was put back, what a platform shows as answered is not answered again, and the rest is', async () => {
  const more = await startTwoMore()
  const { house, copy, putBack } = await startCopied(more)
  const channel = more.rooms.discord
  const places = [
    {
      say: (text: string) => more.discord.world.say({ from: '222', channel, text }),
      answered: (text: string) =>
        more.discord.ledger.next((one) => one.kind === 'message' && one.byBot && one.text.includes(text)),
      all: () => more.discord.world.messages(channel, { bot: true }).map(({ message }) => message.content),
    },
    ...[more.rooms.slack, undefined].map((room) => ({
      say: (text: string) =>
        more.slack.world.say({ from: 'U333', text, ...(room === undefined ? {} : { channel: room }) }),
      answered: (text: string) =>
        more.slack.ledger.next(
          (one) =>
            one.kind === 'message' && one.byBot && one.channel.startsWith(room ?? 'D') && one.text.includes(text),
        ),
      all: () =>
        more.slack.world
          .messages(room ?? more.slack.world.direct('U333').id, { by: 'bot' })
          .map(({ message }) => message.text),
    })),
  ]
  const ask = (text: string) =>
    places.map(({ say, answered }) => {
      const shown = answered(text)
      say(text)
      return shown
    })
  await Promise.all(ask('before the copy'))
  copy('and its marker')
  await Promise.all(ask('after the copy'))
  let open: readonly Promise<unknown>[] = []
  await putBack(() => {
    open = ask('while it was away')
  })
  await Promise.all(open)
  const each = ['before', 'after', 'away'].map((word) => expect.stringContaining(word))
  for (const { all } of places) expect(all()).toEqual(each)
  expect(await house.daemon.operator.status()).not.toHaveProperty('restored')
})

it('F-F08: where the clock was ahead when it was found, what is said after the clock was set is answered', async () => {
  const clock = setClock(new Date().toISOString())
  const { house, copy, putBack, later } = await startCopied(undefined, { clock })
  await heard(house, ADA, 'hello')
  copy()
  await heard(house, ADA, 'said after the copy')
  clock.setBy(3 * 3_600_000)
  await putBack()
  clock.setBy(-3 * 3_600_000)
  later()
  await heard(house, BOB, 'and now?')
  expect(await house.daemon.operator.status()).toMatchObject({ restored: { state: 'held' } })
})

it('F-F08: a mere stop holds nothing back: what came in meanwhile is answered', async () => {
  const { house } = await startCopied()
  await heard(house, ADA, 'hello')
  await house.daemon.stop()
  house.telegram.world.say({ from: ADA, text: 'while it was away' })
  await house.restart()
  await house.telegram.ledger.nextFromBot('sent', { after: 0, where: ({ text }) => text.includes('while it was away') })
  expect(await house.daemon.operator.status()).not.toHaveProperty('restored')
})
