import { describe, expect, it } from 'vitest'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { createGate } from '../../src/rehearsal/deferred.ts'
import type { FailpointSpec } from './kill-switch.ts'
import { CASE, rounds } from './rounds.ts'
import { ADA, BOB, KILLED, startScene } from './scene.ts'

const HALVES = ['The first half, ', 'and the second.']
const WHOLE = HALVES.join('')

/** Ada's answer stops before its second delta; to Bob nothing is said. */
function halting(gate: ReturnType<typeof createGate>): Script {
  return (request) =>
    lastUserText(request) === 'ping'
      ? textReply('<NO_REPLY>', { split: (text) => [text] })
      : textReply(WHOLE, { split: () => HALVES, holds: [{ beforeDelta: 1, gate }] })
}

/** Says something, uses a tool, and has nothing to say in the end. */
function thinkingAloud(gate: ReturnType<typeof createGate>): Script {
  return (request) =>
    lastUserText(request) === 'hello'
      ? {
          blocks: [
            { type: 'text', text: 'Let me look.' },
            { type: 'tool_use', name: 'probe_pure', input: {} },
          ],
          holds: [{ beforeDelta: 1, gate }],
        }
      : textReply('<NO_REPLY>')
}

/** The first call that changes the chat shows the beginning, the second is the last edit or takes it back. */
const IN_THE_LAST_EDIT: readonly FailpointSpec[] = ['CP11-sending-committed:2', 'CP12-bytes-written:2']

describe.concurrent('a kill while an answer is shown as it grows', CASE, () => {
  for (const point of rounds(['CP5-mid-stream'] as const)) {
    it(`F-A04: what was shown becomes the whole (${point})`, async (test) => {
      const gate = createGate()
      const scene = await startScene(test, { script: halting(gate), streaming: true })
      await scene.daemon.start(point)
      scene.telegram.world.say({ from: ADA, text: 'hello' })
      const shown = await scene.sent('The first half,')
      // When a later message has come as far as the model, the id of what is shown is on disk.
      scene.telegram.world.say({ from: BOB, text: 'ping' })
      await scene.anthropic.ledger.nextAccepted({ where: (request) => lastUserText(request) === 'ping' })
      gate.release()
      expect(await scene.daemon.exited()).toEqual(KILLED)
      await scene.daemon.start()
      const edited = await scene.telegram.ledger.nextFromBot('edited', { where: ({ text }) => text === WHOLE })
      expect(edited.messageId).toBe(shown.messageId)
      await scene.finish()
      expect(scene.texts(ADA)).toEqual([WHOLE])
      const asked = scene.anthropic.ledger.requests().filter((request) => lastUserText(request) === 'hello')
      expect(asked.length).toBeLessThanOrEqual(2)
    })

    it(`F-A04: what was shown stays if the next start has no answer either (${point})`, async (test) => {
      const gate = createGate()
      const answers = halting(gate)
      let asked = 0
      const script: Script = (request, turn) =>
        lastUserText(request) === 'hello' && asked++ > 0
          ? { error: { status: 401, type: 'authentication_error' } }
          : answers(request, turn)
      const scene = await startScene(test, { script, streaming: true })
      await scene.daemon.start(point)
      scene.telegram.world.say({ from: ADA, text: 'hello' })
      await scene.sent('The first half,')
      scene.telegram.world.say({ from: BOB, text: 'ping' })
      await scene.anthropic.ledger.nextAccepted({ where: (request) => lastUserText(request) === 'ping' })
      gate.release()
      expect(await scene.daemon.exited()).toEqual(KILLED)
      await scene.daemon.start()
      await scene.sent('I could not sign in')
      await scene.sent('cannot answer')
      await scene.finish()
      const [shown, ...lines] = scene.texts(ADA)
      expect(shown?.trim()).toBe('The first half,')
      // She owns the bot: she is notified of the model too.
      expect(lines.toSorted()).toEqual([
        expect.stringMatching(/^I could not sign in to my language model\. \(tr_\w+\)$/),
        expect.stringContaining('The model anthropic/rehearsal cannot answer'),
      ])
    })

    it(`F-A04: lost sight of in the send (${point}): the whole comes once, marked as a repeat`, async (test) => {
      const gate = createGate()
      const scene = await startScene(test, { script: halting(gate), streaming: true })
      const { faults } = scene.telegram
      const unanswered = faults.add({ method: 'sendMessage', action: { kind: 'hold', when: 'after' } })
      await scene.daemon.start(point)
      scene.telegram.world.say({ from: ADA, text: 'hello' })
      await unanswered.reached
      gate.release()
      expect(await scene.daemon.exited()).toEqual(KILLED)
      await scene.daemon.start()
      await scene.sent(`(repeat) ${WHOLE}`)
      await scene.finish()
      expect(scene.texts(ADA)).toEqual([expect.stringMatching(/^The first half,/), `(repeat) ${WHOLE}`])
    })
  }

  for (const point of rounds(IN_THE_LAST_EDIT, 2)) {
    it(`F-A04: in the last edit (${point}): it is made again, and nobody sees a repeat`, async (test) => {
      const gate = createGate()
      const scene = await startScene(test, { script: halting(gate), streaming: true })
      await scene.daemon.start(point)
      scene.telegram.world.say({ from: ADA, text: 'hello' })
      await scene.sent('The first half,')
      gate.release()
      expect(await scene.daemon.exited()).toEqual(KILLED)
      const mark = scene.telegram.ledger.mark()
      await scene.daemon.start()
      await scene.telegram.ledger.nextCall('editMessageText', { after: mark })
      await scene.finish()
      expect(scene.texts(ADA)).toEqual([WHOLE])
    })

    it(`S28: what was shown of a turn that ends silent is taken back (${point})`, async (test) => {
      const gate = createGate()
      const scene = await startScene(test, { script: thinkingAloud(gate), streaming: true })
      await scene.daemon.start(point)
      scene.telegram.world.say({ from: ADA, text: 'hello' })
      await scene.sent('Let me look.')
      gate.release()
      expect(await scene.daemon.exited()).toEqual(KILLED)
      const mark = scene.telegram.ledger.mark()
      await scene.daemon.start()
      await scene.telegram.ledger.nextCall('deleteMessage', { after: mark })
      const { inbox } = await scene.finish()
      expect(scene.texts(ADA)).toEqual([])
      expect(inbox).toMatchObject([{ outcome: 'silent' }])
    })
  }
})
