import { expect, it } from 'vitest'
import { toAgentId } from '../../../src/core/ids.ts'
import type { StoreWriter } from '../../../src/store/store.ts'
import { scopeKeyOf, sessionDraft, userMessage } from '../../store/sample-rows.ts'
import { type ContractPart, makeSession, rejection } from './under-test.ts'

/** A transaction finds the session that a scope points to, as it is on disk and with what it wrote itself. */
export const currentSessionContract: ContractPart = (underTest) => {
  const scopeKey = scopeKeyOf(1)
  const current = () => underTest.store.write((tx) => tx.sessions.current(scopeKey))
  const write = (body: (tx: StoreWriter) => Promise<unknown>) => underTest.store.write(body)

  it('every change is seen by the next transaction, as it is on disk', async () => {
    const { id } = await makeSession(underTest.store, 1)
    const changes: ((tx: StoreWriter) => Promise<unknown>)[] = [
      (tx) => tx.events.append(id, 2_000, [userMessage('one'), userMessage('two')]),
      (tx) => tx.sessions.reopen(id, { topic_id: '7' }, 3_000),
      (tx) => tx.sessions.deactivate(id, 4_000),
      (tx) => tx.sessions.reopen(id, {}, 5_000),
      (tx) => tx.sessions.patchOverrides(id, { set: { sendPolicy: 'deny' }, inherit: [] }),
      (tx) => tx.sessions.describe(id, 'about it', 'user'),
      (tx) => tx.sessions.setAgent(id, toAgentId('other')),
      (tx) => tx.events.append(id, 6_000, [userMessage('three')]),
    ]
    for (const change of changes) {
      const before = await current()
      await write(change)
      expect(await current()).toEqual(await underTest.store.read.sessions.get(id))
      expect(await current()).not.toEqual(before)
    }
  })

  it('C32: a deleted session is no longer the current one', async () => {
    const { id } = await makeSession(underTest.store, 1)
    await current()
    await write((tx) => tx.sessions.remove(id, 2_000))
    expect(await current()).toBeUndefined()
  })

  it('S10: a new session of the scope is the current one, and the old one is no longer seen', async () => {
    const old = await makeSession(underTest.store, 1)
    expect(await current()).toEqual(old)
    const fresh = await makeSession(underTest.store, 1)
    await write((tx) => tx.events.append(old.id, 2_000, [userMessage('late')]))
    expect(await current()).toEqual(fresh)
  })

  it('what a body that failed had written is not seen, neither its session nor its change', async () => {
    const { id } = await makeSession(underTest.store, 1)
    await current()
    const failing = rejection(underTest.store, async (tx) => {
      await tx.events.append(id, 2_000, [userMessage('undone')])
      await tx.sessions.create(sessionDraft(1), 2_000)
      expect(await tx.sessions.current(scopeKey)).not.toMatchObject({ id })
      throw new Error('no')
    })
    expect([await failing, await current()]).toMatchObject([{ message: 'no' }, { id, lastSeq: 0 }])
  })
}
