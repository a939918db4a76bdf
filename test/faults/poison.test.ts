import { describe, expect, it } from 'vitest'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { createGate, type GateKeeper } from '../../src/rehearsal/deferred.ts'
import { CASE, rounds } from './rounds.ts'
import { ADA, BOB, KILLED, startScene } from './scene.ts'

/** The one text that makes the model use a tool, and the process dies whenever a tool runs. */
const POISON = 'poison'
const KILLER = 'CP8-tool-running'
/** Twice beside whatever else runs, and twice alone after a quiet time. */
const MOST_ATTEMPTS = 4

const SLOW = 'slow'

/** Slow texts are answered when the gate opens. */
function scriptWith(gate: GateKeeper): Script {
  return (request) => {
    const text = lastUserText(request)
    if (text === POISON) return { blocks: [{ type: 'tool_use', name: 'probe_pure', input: {} }] }
    return textReply(`echo ${text}`, text === SLOW ? { holds: [{ beforeDelta: 0, gate }] } : {})
  }
}

describe.concurrent('a message that kills the process each time', CASE, () => {
  for (const _ of rounds([1])) {
    it('F-A16: is set aside after four times, its author told, and the others are answered', async (test) => {
      const scene = await startScene(test, { script: scriptWith(createGate()) })
      await scene.daemon.start(KILLER)
      scene.telegram.world.say({ from: BOB, text: 'before' })
      await scene.sent('echo before')
      scene.telegram.world.say({ from: ADA, text: POISON })
      expect(await scene.daemon.exited()).toEqual(KILLED)
      scene.telegram.world.say({ from: BOB, text: 'while it is down' })
      scene.telegram.world.say({ from: ADA, text: 'and this?' })
      for (let attempt = 2; attempt <= MOST_ATTEMPTS; attempt++) {
        scene.daemon.spawn(KILLER)
        expect(await scene.daemon.exited()).toEqual(KILLED)
      }
      await scene.daemon.start(KILLER)
      const notice = await scene.sent('I gave up on this message', { chat: ADA })
      await scene.sent('echo while it is down')
      await scene.sent('echo and this?')
      const { turns, inbox } = await scene.finish()
      expect(turns.filter(({ state }) => state === 'quarantined')).toHaveLength(1)
      expect(inbox.map(({ outcome }) => outcome).sort()).toEqual(['answered', 'answered', 'answered', 'quarantined'])
      expect(notice.text).toMatch(/\(tr_\w+\)$/)
      expect(scene.probes()).toHaveLength(MOST_ATTEMPTS)
    })

    it('F-A16: a turn that was under way at two of the crashes is not taken for the cause', async (test) => {
      const gate = createGate()
      const scene = await startScene(test, { script: scriptWith(gate) })
      await scene.daemon.start(KILLER)
      scene.telegram.world.say({ from: BOB, text: SLOW })
      await scene.anthropic.ledger.nextAccepted()
      scene.telegram.world.say({ from: ADA, text: POISON })
      expect(await scene.daemon.exited()).toEqual(KILLED)
      scene.daemon.spawn(KILLER)
      expect(await scene.daemon.exited()).toEqual(KILLED)
      gate.release()
      for (let alone = 0; alone < 2; alone++) {
        scene.daemon.spawn(KILLER)
        expect(await scene.daemon.exited()).toEqual(KILLED)
      }
      await scene.daemon.start(KILLER)
      await scene.settle([BOB])
      const { inbox } = await scene.finish()
      expect(inbox.map(({ outcome }) => outcome)).toEqual(['answered', 'quarantined', 'answered'])
      expect(scene.texts(BOB)).toContain(`echo ${SLOW}`)
    })
  }
})
