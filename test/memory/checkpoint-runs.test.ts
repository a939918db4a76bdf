import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import type { AgentProfile } from '../../src/core/agent-profile.ts'
import { deferred } from '../../src/core/deferred.ts'
import { type ErrorCode, ParleyError } from '../../src/core/errors.ts'
import { silentLogger } from '../../src/core/logger.ts'
import { createCheckpointRuns } from '../../src/memory/checkpoint-runs.ts'
import { createCheckpoints } from '../../src/memory/checkpoints.ts'
import { createPending } from '../../src/memory/pending.ts'
import { openSqliteStore } from '../../src/store/engines/sqlite.ts'
import { steppedClock } from '../delivery/stepped-clock.ts'
import { readyDatabase } from '../fakes/ready-database.ts'
import { sessionDraft } from '../store/sample-rows.ts'
import { removeTempFolders, tempFolder } from '../store/temp-database.ts'

removeTempFolders()

const settings = { turns: 5, quietGroupMessages: 2, idleMinutes: 10 }
const sender = { id: '111', kind: 'user', displayName: 'Ada' } as const

/** A session in which Ada has said something, and a model that fails with this, once `held` resolves. */
async function rig(fails: ErrorCode = 'model_overloaded', held: Promise<void> = Promise.resolve()) {
  const clock = steppedClock()
  const store = await openSqliteStore({ path: readyDatabase(join(tempFolder(), 'parley.db')), clock })
  onTestFinished(() => store.close())
  const draft = sessionDraft(1)
  const said = { messageId: '5', sender, text: 'one', owner: true, addressed: true, triggers: false }
  const say = () => store.write((tx) => tx.events.append(draft.id, clock.now(), [{ type: 'user_message', data: said }]))
  await store.write((tx) => tx.sessions.create(draft, clock.now()))
  await say()
  const pending = createPending({ store, clock, settings })
  let asked = 0
  const deps = {
    ...{ store, clock, logger: silentLogger, pending, isOwner: async () => true, saw: () => {} },
    agent: () => ({ model: 'small', prompt: '', tools: [] }) as unknown as AgentProfile,
    introspect: async () => {
      asked++
      await held
      throw new ParleyError(fails, 'down')
    },
    stopping: new AbortController().signal,
  }
  const service = { ...deps, settings, has: () => true, isKnown: async () => true, busy: () => false }
  const parts = { runs: createCheckpointRuns(deps), checkpoints: createCheckpoints(service) }
  return { clock, store, session: draft.id, pending, ...parts, say, asked: () => asked }
}

it('S35: a checkpoint that has failed eight times is owed no more', async () => {
  const { clock, store, session, runs, asked } = await rig()
  await store.write((tx) => tx.checkpoints.owe(session, 'idle', clock.now()))
  await runs.runOwed(session, 'idle')
  for (let attempt = 2; attempt <= 8; attempt++) {
    await expect.poll(clock.nextDue).toBeLessThan(Number.POSITIVE_INFINITY)
    expect(await store.read.checkpoints.owed()).toMatchObject([{ attempts: attempt - 1 }])
    clock.moveTo(clock.nextDue())
    await expect.poll(asked).toBe(attempt)
  }
  await expect.poll(() => store.read.checkpoints.owed()).toEqual([])
  expect(clock.nextDue()).toBe(Number.POSITIVE_INFINITY)
})

it('S35: a session has one checkpoint at a time; one that is owed meanwhile is due a minute later', async () => {
  const held = deferred()
  const { clock, session, runs, asked } = await rig('model_overloaded', held.promise)
  const first = runs.run(session, 'manual')
  expect(await runs.run(session, 'manual')).toEqual({ kind: 'running' })
  await runs.runOwed(session, 'idle')
  expect(clock.nextDue() - clock.now()).toBe(60_000)
  held.resolve()
  await expect(first).rejects.toMatchObject({ code: 'model_overloaded' })
  expect([asked(), runs.has(session)]).toEqual([1, false])
})

it('S35: a checkpoint whose messages have changed meanwhile is repeated at once', async () => {
  const { clock, store, session, runs } = await rig('conflict')
  await store.write((tx) => tx.checkpoints.owe(session, 'idle', clock.now()))
  await runs.runOwed(session, 'idle')
  expect(clock.nextDue()).toBe(clock.now())
})

it('S35: a group that talks without end is looked through once in the time of a pause', async () => {
  const { clock, session, pending, say } = await rig()
  await say()
  expect(await pending.count(session, 'quiet')).toBe(true)
  pending.begun(session)
  for (let more = 0; more < 3; more++) expect(await pending.count(session, 'quiet')).toBe(false)
  clock.moveTo(clock.now() + settings.idleMinutes * 60_000)
  expect(await pending.count(session, 'quiet')).toBe(true)
})

it('S35, F-E05: a clock that is set back makes no longer pause after a checkpoint for quiet messages', async () => {
  const { clock, pending, session, say } = await rig()
  await say()
  expect(await pending.count(session, 'quiet')).toBe(true)
  pending.begun(session)
  clock.setBy(-86_400_000)
  expect([await pending.count(session, 'quiet'), await pending.count(session, 'quiet')]).toEqual([false, false])
  clock.moveTo(clock.now() + 600_000)
  expect(await pending.count(session, 'quiet')).toBe(true)
})

it('S35, F-E05: a checkpoint that was put off by a clock that was ahead waits no longer than any other', async () => {
  const { clock, store, session, checkpoints } = await rig()
  await store.write(async (tx) => {
    await tx.checkpoints.owe(session, 'idle', clock.now())
    await tx.checkpoints.putOff(session, clock.now() + 30 * 86_400_000)
  })
  checkpoints.recover()
  await expect.poll(() => clock.nextDue() - clock.now()).toBe(6 * 3_600_000)
})

it('S35, F-E05: a session that was active by a clock that was ahead is quiet after the usual time', async () => {
  const { clock, checkpoints, say } = await rig()
  clock.setBy(30 * 86_400_000)
  await say()
  clock.setBy(-30 * 86_400_000)
  checkpoints.recover()
  await expect.poll(() => clock.nextDue() - clock.now()).toBe(settings.idleMinutes * 60_000)
})
