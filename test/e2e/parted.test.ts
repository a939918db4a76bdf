import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { catalogue } from '../../adapters/index.ts'
import type { Config } from '../../src/config/config.ts'
import { toPersonId } from '../../src/core/ids.ts'
import { silentLogger } from '../../src/core/logger.ts'
import { startDaemon } from '../../src/daemon/start.ts'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { createGate } from '../../src/rehearsal/deferred.ts'
import { household } from '../fakes/routing-policy.ts'
import { recorded, startHousehold } from './household.ts'
import { setClock } from './set-clock.ts'

const ADA = { id: toPersonId('ada'), role: 'owner', ids: ['telegram:111'] } as const
const BOTH = { ...ADA, ids: ['telegram:111', 'telegram:555'] }

/** Ada's conversation follows her to Cy's chat (555) until it is parted from her; a turn of hers is under way. */
async function linked(people: typeof ADA | typeof BOTH) {
  const gate = createGate()
  const script: Script = (request) => {
    if (lastUserText(request) === 'slow') return textReply('done', { holds: [{ beforeDelta: 0, gate }] })
    const secret = /my secret is \w+/.exec(JSON.stringify(request.messages))
    return textReply(`I know: ${secret?.[0] ?? 'nothing'}`)
  }
  const routing = { direct: 'person', people: [people] } as const
  const policy = household({ direct: 'person', people: [ADA] })
  const house = await startHousehold({
    ...{ script, routing },
    streaming: false,
    reload: async () => ({ routing: policy, warnings: [], down: [] }) as unknown as Config,
  })
  const { telegram, daemon } = house
  const answer = (chat: number) => {
    const after = telegram.ledger.mark()
    return telegram.ledger
      .nextFromBot('sent', { after, where: ({ chatId }) => chatId === chat })
      .then(({ text }) => text)
  }
  const say = async (text: string) => {
    const answered = answer(111)
    telegram.world.say({ from: 111, text })
    return answered
  }
  if (people === ADA) await daemon.operator.people.link('ada', 'telegram:555')
  await say('my secret is bluebird')
  telegram.world.say({ from: 111, text: 'slow' })
  await gate.reached
  const { message_id: id } = telegram.world.say({ from: 555, text: 'what do you know?' })
  const outcome = async () => (await daemon.operator.why(String(id))).find(({ sender }) => sender.id === '555')
  await expect.poll(async () => (await outcome())?.session).toBeDefined()
  return { ...house, daemon, gate, answer, say, outcome }
}

it.each([
  ['by the operator', ADA, async ({ daemon }: Linked) => daemon.operator.people.unlink('telegram:555')],
  ['by herself in chat', ADA, async ({ say }: Linked) => say('/unlink telegram:555')],
  ['by a changed configuration', BOTH, async ({ daemon }: Linked) => daemon.operator.config.reload()],
])('F-H04: what waits from a chat that is parted %s is not answered from her conversation', async (_, people, part) => {
  const house = await linked(people)
  await part(house)
  const told = house.answer(555)
  const done = house.answer(111)
  house.gate.release()
  await done
  expect(await told).toContain('Please send it again')
  await expect.poll(async () => (await house.outcome())?.outcome).toBe('refused: parted')
  expect(await house.say('and I?')).toBe('I know: my secret is bluebird')
})

it('F-H04: nor after a restart', async () => {
  const house = await linked(ADA)
  await house.daemon.operator.people.unlink('telegram:555')
  const told = house.answer(555)
  const restarted = house.restart()
  house.gate.release()
  await restarted
  expect(await told).toContain('Please send it again')
})

it('F-H04: nor does it keep a daemon from starting from whose configuration its platform was taken', async () => {
  const house = await linked(ADA)
  await house.daemon.operator.people.unlink('telegram:555')
  const stopped = house.daemon.stop()
  house.gate.release()
  await stopped
  const daemon = await startDaemon({
    config: { ...house.config, channels: {} },
    ...{ logger: silentLogger, version: 'test', plugins: catalogue },
    socketPath: join(house.dataDir, 'parley.sock'),
  })
  onTestFinished(() => daemon.stop())
  const { waiting, outbox } = await daemon.operator.status()
  expect(waiting).toBe(0)
  expect(outbox).toHaveProperty('planned')
})

it('F-H04: a message that is answered once more and parts again ends its turn, as the first time', async () => {
  const gates = [createGate(), createGate()]
  const clock = setClock('2026-11-21T08:00:00Z')
  let asked = 0
  const script: Script = (request) => {
    const gate = lastUserText(request).includes('slow') ? gates[asked++] : undefined
    return textReply('done', gate ? { holds: [{ beforeDelta: 0, gate }] } : {})
  }
  const routing = { direct: 'person', people: [ADA] } as const
  const home = await startHousehold({ script, routing, clock, streaming: false })
  const { telegram, daemon } = home
  const { people, why } = daemon.operator
  const answer = (after = telegram.ledger.mark()) =>
    telegram.ledger.nextFromBot('sent', { after, where: ({ chatId }) => chatId === 555 }).then(({ text }) => text)
  const say = (text: string) => telegram.world.say({ from: 555, text }).message_id
  await people.link('ada', 'telegram:555')
  const id = say('slow')
  for (const gate of gates) {
    await gate.reached
    await people.unlink('telegram:555')
    // The line about it comes once for a message.
    const notice = gate === gates[0] ? answer() : undefined
    gate.release()
    await expect.poll(async () => (await why(String(id)))[0]?.outcome).toBe('refused: parted')
    await notice
    await recorded(home)
    await people.link('ada', 'telegram:555')
    clock.skip(120_000)
    const next = answer()
    say(gate === gates[0] ? '/retry' : 'and now?')
    expect(await next).toMatch(/once more|done/)
  }
})

type Linked = Awaited<ReturnType<typeof linked>>
