import { expect, it } from 'vitest'
import type { TurnId } from '../../../src/core/ids.ts'
import { silentLogger } from '../../../src/core/logger.ts'
import type { LiveText, StreamReader } from '../../../src/core/operate-events.ts'
import { createCommitWatch } from '../../../src/daemon/commit-watch.ts'
import { createLiveHub } from '../../../src/sessions/service/live-events.ts'
import { movedClock } from '../../agent/moved-clock.ts'
import { turnCompleted } from '../../store/sample-rows.ts'
import { OPERATOR, serviceRig } from '../service-rig.ts'

it('C8: of an answer whose last reader has left nothing is kept or sent once its turn is over', async () => {
  const commits = createCommitWatch()
  const { store, service, make } = await serviceRig({ watch: commits.watch })
  const clock = movedClock()
  const hub = createLiveHub({ read: store.read, clock, logger: silentLogger, sessions: service })
  commits.on(hub.watch)
  const session = await make()
  const taken: LiveText[] = []
  const reader: StreamReader = {
    ...{ event() {}, deleted() {}, beat() {}, end() {}, cut() {}, roomy: () => true, ready: async () => {} },
    text(text) {
      taken.push(text)
      return true
    },
  }
  const open = async () => {
    const followed = await hub.of(OPERATOR).follow(session, { texts: true })
    followed.start(reader)
    return followed.close
  }
  const leave = await open()
  for (const text of ['one', 'one two']) hub.grew({ session, turn: 'turn_1' as TurnId, text })
  leave()
  await store.write((tx) => tx.events.append(session, 1, [turnCompleted]))
  await open()
  clock.advance(1_000)
  expect(taken.map(({ text }) => text)).toEqual(['one'])
  hub.stop()
  expect(clock.pending()).toBe(0)
})
