import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { lastUserText, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { createGate } from '../../src/rehearsal/deferred.ts'
import { mulberry } from './random.ts'
import { rounds, times } from './rounds.ts'
import { ADA, KILLED, type Scene, startScene } from './scene.ts'

const PEOPLE = Array.from({ length: 20 }, (_, index) => 3001 + index)
/** How often it is ended by SIGTERM and SIGKILL. */
const ENDS = times(5, 2)
const KILLS = times(20, 3)
const EVERY_MS = 50
const MOST_UNHEARD = 60
const HELD = 'are you still there?'
const DRAINED_WITHIN_MS = 60_000

// One after another: what is said while many daemons start at once fills the queues, which is refused and no loss.
describe('kills at any time', { timeout: 300_000 }, () => {
  for (const round of rounds([1])) {
    it(`F-A18: ${KILLS} random kills under 20 messages a second: none lost, none given up, none answered twice unmarked`, async (test) => {
      const random = mulberry(Date.now() + round)
      const gate = createGate()
      const scene = await startScene(test, {
        script: (request) => {
          const text = lastUserText(request)
          return textReply(`echo ${text}`, text === HELD ? { holds: [{ beforeDelta: 0, gate }] } : { delayMs: 20 })
        },
      })
      for (const id of PEOPLE) scene.telegram.world.addUser({ id, firstName: `Person ${id}` })
      const traffic = startTraffic(scene)
      const everybody = [...PEOPLE]
      for (let kill = 0; kill < KILLS; kill++) {
        await scene.daemon.start()
        traffic.more()
        const { id } = scene.telegram.world.addUser({ firstName: 'Somebody new' })
        everybody.push(id)
        // The last kill meets a running turn: chance might meet none.
        const isLast = kill === KILLS - 1
        scene.telegram.world.say({ from: id, text: isLast ? HELD : 'are you there?' })
        if (isLast) await scene.anthropic.ledger.nextAccepted({ where: (request) => lastUserText(request) === HELD })
        else await scene.sent('echo are you there?', { chat: id })
        await pause(random() * 800)
        expect(await scene.daemon.kill()).toEqual(KILLED)
      }
      gate.release()
      const said = traffic.stop() + KILLS + everybody.length
      await scene.daemon.start()
      await scene.settle(everybody, DRAINED_WITHIN_MS)
      const { inbox, events } = await scene.finish()
      expect(inbox).toHaveLength(said)
      expect(inbox.filter(({ outcome }) => outcome !== 'answered')).toEqual([])
      expect(
        events.filter(({ type }) => type === 'turn_resumed'),
        'the kills met running turns',
      ).not.toEqual([])
    })

    it('F-A21: SIGTERM and a SIGKILL one second later, again and again: every message answered once', async (test) => {
      let gate = createGate()
      const scene = await startScene(test, {
        script: (request) => textReply(`echo ${lastUserText(request)}`, { holds: [{ beforeDelta: 0, gate }] }),
      })
      for (const text of ['first', 'second', 'third', 'fourth', 'fifth'].slice(0, ENDS)) {
        gate = createGate()
        await scene.daemon.start()
        scene.telegram.world.say({ from: ADA, text })
        await scene.anthropic.ledger.nextAccepted({ where: (request) => lastUserText(request) === text })
        const ended = scene.daemon.terminate()
        await pause(1000)
        await scene.daemon.kill()
        expect(await ended).toEqual(KILLED)
        gate.release()
        await scene.daemon.start()
        await scene.sent(`echo ${text}`)
        await scene.daemon.terminate()
      }
      await scene.daemon.start()
      await scene.finish()
      expect(scene.texts(ADA)).toHaveLength(ENDS)
    })
  }
})

/**
 * People who speak in turn, whether or not anybody listens, as much as is answered in time on a machine where a start
 * takes long; `more` lets them speak as much again. `stop` returns how many messages there were.
 */
function startTraffic({ telegram }: Scene): { more(): void; stop(): number } {
  let said = 0
  let most = MOST_UNHEARD
  const timer = setInterval(() => {
    if (said >= most) return
    const from = PEOPLE[said % PEOPLE.length] ?? ADA
    telegram.world.say({ from, text: `message ${said++}` })
  }, EVERY_MS)
  return {
    more() {
      most = said + MOST_UNHEARD
    },
    stop() {
      clearInterval(timer)
      return said
    },
  }
}
