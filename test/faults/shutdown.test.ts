import { describe, expect, it } from 'vitest'
import { EXIT } from '../../src/core/errors.ts'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { createGate } from '../../src/rehearsal/deferred.ts'
import { CASE, rounds } from './rounds.ts'
import { ADA, BOB, KILLED, type Scene, startScene } from './scene.ts'

const TWENTY = Array.from({ length: 20 }, (_, index) => 2001 + index)

function addPeople({ telegram }: Scene, ids: readonly number[]): void {
  for (const id of ids) telegram.world.addUser({ id, firstName: `Person ${id}` })
}

/** Bob speaks until one of his messages is handed out a second time: it was received and not acknowledged. */
async function sayUntilRefused({ telegram: { world, ledger } }: Scene): Promise<number> {
  for (;;) {
    const id = ledger.updateIdOf(world.say({ from: BOB, text: 'late' }))
    const fate = await ledger.next(
      (entry) =>
        (entry.kind === 'confirmed' && entry.updateId === id) ||
        (entry.kind === 'delivered' && entry.updateId === id && entry.times > 1),
    )
    if (fate.kind === 'delivered') return id
  }
}

/** Holds the answers to the texts that contain a word until its gate is released. */
function holding(gates: Readonly<Record<string, ReturnType<typeof createGate>>>): Script {
  return (request) => {
    const text = lastUserText(request)
    const [, gate] = Object.entries(gates).find(([word]) => text.includes(word)) ?? []
    return textReply(`echo ${text}`, gate ? { holds: [{ beforeDelta: 0, gate }] } : {})
  }
}

describe.concurrent('stopping and starting', CASE, () => {
  for (const _ of rounds([1])) {
    it('F-A20: SIGTERM with 20 live turns exits 0 within 25 s, and the next start answers the rest', async (test) => {
      const gates = { soon: createGate(), late: createGate() }
      const scene = await startScene(test, { script: holding(gates) })
      addPeople(scene, TWENTY)
      await scene.daemon.start()
      for (const id of TWENTY) scene.telegram.world.say({ from: id, text: id % 2 === 0 ? 'soon' : 'late' })
      await scene.anthropic.ledger.collect(TWENTY.length, ({ kind }) => kind === 'accepted')

      const from = performance.now()
      const ended = scene.daemon.terminate()
      gates.soon.release()
      const mark = scene.telegram.ledger.mark()
      expect(await ended).toEqual({ code: EXIT.ok, signal: null })
      expect(performance.now() - from).toBeLessThan(25_000)
      const answered = TWENTY.filter((id) => scene.texts(id).length > 0)
      expect(answered).toEqual(TWENTY.filter((id) => id % 2 === 0))

      scene.telegram.world.say({ from: ADA, text: 'while it is down' })
      gates.late.release()
      await scene.daemon.start()
      const latecomers = TWENTY.filter((id) => id % 2 === 1)
      await scene.telegram.ledger.collect(
        latecomers.length + 1,
        (entry) => entry.kind === 'message' && entry.botId !== null,
        { after: mark + answered.length },
      )
      for (const id of latecomers) await scene.sent('echo late', { chat: id })
      await scene.sent('echo while it is down', { chat: ADA })
      const { turns } = await scene.finish()
      for (const id of TWENTY) expect(scene.texts(id)).toHaveLength(1)
      expect(turns).toHaveLength(TWENTY.length + 1)
      expect(
        turns.every(({ attempt }) => attempt === 1),
        'an orderly stop is no crash',
      ).toBe(true)
    })

    it('F-A20: what arrives during the drain is not acknowledged, and the next start answers it', async (test) => {
      const gate = createGate()
      const scene = await startScene(test, { script: holding({ first: gate }) })
      await scene.daemon.start()
      scene.telegram.world.say({ from: ADA, text: 'first' })
      await scene.anthropic.ledger.nextAccepted()
      const ended = scene.daemon.terminate()
      const lateId = await sayUntilRefused(scene)
      gate.release()
      expect(await ended).toEqual({ code: EXIT.ok, signal: null })
      expect(scene.telegram.ledger.count((entry) => entry.kind === 'confirmed' && entry.updateId === lateId)).toBe(0)
      await scene.daemon.start()
      await scene.telegram.ledger.confirmed(lateId)
      await scene.settle([BOB])
      const { inbox } = await scene.finish()
      expect(new Set(inbox.map(({ outcome }) => outcome))).toEqual(new Set(['answered']))
      expect(scene.texts(ADA)).toEqual(['echo first'])
    })

    it('F-A22: five messages behind each running turn: nothing is left running, and order is kept', async (test) => {
      const people = TWENTY.slice(0, 5)
      const more = ['a', 'b', 'c', 'd', 'e']
      const gate = createGate()
      const scene = await startScene(test, { script: holding({ first: gate }) })
      addPeople(scene, people)
      await scene.daemon.start()
      for (const from of people) scene.telegram.world.say({ from, text: 'first' })
      await scene.anthropic.ledger.collect(people.length, ({ kind }) => kind === 'accepted')
      const last = people.flatMap((from) => more.map((text) => scene.telegram.world.say({ from, text }))).at(-1)
      if (last === undefined) throw new Error('nobody spoke')
      await scene.telegram.ledger.confirmed(scene.telegram.ledger.updateIdOf(last))
      expect(await scene.daemon.kill()).toEqual(KILLED)
      gate.release()
      await scene.daemon.start()
      for (const chat of people) await scene.sent('echo a\nb\nc\nd\ne', { chat })
      const { turns } = await scene.finish()
      for (const id of people) expect(scene.texts(id)).toEqual(['echo first', 'echo a\nb\nc\nd\ne'])
      expect(turns).toHaveLength(2 * people.length)
    })
  }
})
