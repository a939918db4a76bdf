import { describe, expect, it } from 'vitest'
import { createGate } from '../../src/rehearsal/deferred.ts'
import type { TelegramCall } from '../../src/rehearsal/telegram/dispatch.ts'
import type { FailpointSpec } from './kill-switch.ts'
import { CASE, rounds } from './rounds.ts'
import { ADA, BOB, KILLED, startScene } from './scene.ts'

interface Case {
  readonly id: string
  readonly point: FailpointSpec
  readonly what: string
}

/** Nothing had left when the process died: one message, unmarked. */
const BEFORE_THE_SEND: readonly Case[] = [
  { id: 'F-A01', point: 'CP1-received', what: 'received, not stored' },
  { id: 'F-A02', point: 'CP2-committed', what: 'stored, not acknowledged' },
  { id: 'F-A03', point: 'CP4-claimed', what: 'the turn claimed' },
  { id: 'F-A05', point: 'CP6-model-answer-uncommitted', what: 'the model answered, nothing of it stored' },
]

/** The send was on record as begun: it may have happened, so the second copy carries the mark. */
const IN_THE_SEND: readonly (Case & { readonly copies: readonly number[] })[] = [
  { id: 'F-A09', point: 'CP10-outbox-planned', what: 'the answer planned', copies: [1] },
  { id: 'F-A09', point: 'CP11-sending-committed', what: 'the send begun, no byte out', copies: [1] },
  { id: 'F-A14', point: 'CP12-bytes-written', what: 'the bytes out, no answer read', copies: [1, 2] },
  { id: 'F-A14', point: 'CP13-response-read', what: 'the answer read, not stored', copies: [2] },
]

describe.concurrent('a kill on the way of a message', CASE, () => {
  for (const { id, what, point } of rounds(BEFORE_THE_SEND, 2)) {
    it(`${id}: ${what} (${point}): one turn, one answer`, async (test) => {
      const scene = await startScene(test)
      await scene.daemon.start(point)
      scene.telegram.world.say({ from: ADA, text: 'hello' })
      expect(await scene.daemon.exited()).toEqual(KILLED)
      await scene.daemon.start()
      await scene.sent('echo hello')
      const { inbox, turns } = await scene.finish()
      expect(scene.texts(ADA)).toEqual(['echo hello'])
      expect(inbox).toMatchObject([{ outcome: 'answered' }])
      expect(turns).toMatchObject([{ state: 'completed' }])
    })
  }

  for (const point of rounds(['CP3-acked'] as const)) {
    it(`F-A03: acknowledged, the turn under way (${point}): it goes on with no new input`, async (test) => {
      const gate = createGate()
      const script = () =>
        ({ blocks: [{ type: 'text', text: 'the answer' }], holds: [{ beforeDelta: 0, gate }] }) as const
      const scene = await startScene(test, { script })
      await scene.daemon.start(point)
      const message = scene.telegram.world.say({ from: ADA, text: 'hello' })
      expect(await scene.daemon.exited()).toEqual(KILLED)
      const { ledger } = scene.telegram
      await ledger.confirmed(ledger.updateIdOf(message))
      gate.release()
      await scene.daemon.start()
      await scene.sent('the answer')
      const { turns } = await scene.finish()
      expect(scene.texts(ADA)).toEqual(['the answer'])
      expect(turns).toMatchObject([{ state: 'completed', attempt: 2 }])
    })
  }

  for (const point of rounds(['CP2-committed'] as const)) {
    it(`F-A02: a command stored and not answered (${point}): it is answered once`, async (test) => {
      const scene = await startScene(test)
      await scene.daemon.start(point)
      scene.telegram.world.say({ from: ADA, text: '/whoami' })
      expect(await scene.daemon.exited()).toEqual(KILLED)
      await scene.daemon.start()
      await scene.sent('You are')
      const { inbox, turns } = await scene.finish()
      expect(scene.texts(ADA)).toHaveLength(1)
      expect(inbox).toMatchObject([{ outcome: 'control' }])
      expect(turns).toEqual([])
    })
  }

  for (const { id, what, point, copies } of rounds(IN_THE_SEND, 4)) {
    it(`${id}: ${what} (${point}): at most one copy more, and that marked; others do not wait for it`, async (test) => {
      const scene = await startScene(test)
      await scene.daemon.start(point)
      scene.telegram.world.say({ from: ADA, text: 'hello' })
      expect(await scene.daemon.exited()).toEqual(KILLED)
      const toAda = ({ params }: TelegramCall) => Number(params.chat_id) === ADA
      const hold = { kind: 'hold', when: 'before' } as const
      const held = scene.telegram.faults.add({ method: 'sendMessage', where: toAda, action: hold })
      await scene.daemon.start()
      await held.reached
      scene.telegram.world.say({ from: BOB, text: 'and me' })
      await scene.sent('echo and me')
      held.release()
      await scene.sent('(repeat) echo hello')
      const { outbox, turns } = await scene.finish()
      const texts = scene.texts(ADA)
      expect(copies).toContain(texts.length)
      expect(texts).toEqual(['echo hello', '(repeat) echo hello'].slice(-texts.length))
      expect(outbox.filter(({ state }) => state === 'resent')).toHaveLength(1)
      expect(turns.every(({ attempt }) => attempt === 1)).toBe(true)
    })
  }
})
