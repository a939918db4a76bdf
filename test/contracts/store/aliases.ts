import { expect, it } from 'vitest'
import type { ScopeKey, SessionId } from '../../../src/core/ids.ts'
import type { Session } from '../../../src/core/session.ts'
import { scopeKeyOf, userMessage } from '../../store/sample-rows.ts'
import { type ContractPart, makeSession } from './under-test.ts'

export const aliasContract: ContractPart = (underTest) => {
  const named = async (name: string): Promise<SessionId | undefined> =>
    (await underTest.store.read.sessions.resolve(name))?.id

  async function withAliases(chat: number, ...aliases: string[]): Promise<Session> {
    const session = await makeSession(underTest.store, chat)
    await underTest.store.write((tx) => tx.aliases.add(session.scopeKey, aliases))
    return session
  }

  it('K25: an alias names the session its scope points to, in any case, also after /new and a restart', async () => {
    const old = await withAliases(1, 'agent:main:slack:channel:c001')
    expect(await named(' Agent:Main:Slack:Channel:C001 ')).toBe(old.id)
    const next = await makeSession(underTest.store, 1)
    await underTest.reopen()
    expect(await named('agent:main:slack:channel:c001')).toBe(next.id)
  })

  it('K25: session ids, scope keys and display keys are found in any case and with outer spaces', async () => {
    const { id, scopeKey, displayKey } = await withAliases(1)
    const shouted = [id, scopeKey, displayKey].map((name) => ` ${name.toUpperCase()} `)
    expect(await Promise.all(shouted.map(named))).toEqual([id, id, id])
  })

  it('K25: a key its caller gave stops being a session of its own once it is an alias of another', async () => {
    const key = 'agent:main:slack:channel:c001'
    const literal = await makeSession(underTest.store, 1, { scopeKey: key as ScopeKey, displayKey: key })
    expect(await named(key)).toBe(literal.id)
    const canonical = await withAliases(2, key)
    expect(await named(key)).toBe(canonical.id)
  })

  it('K45: a name of several sessions means the one in use that was active last', async () => {
    const [first, second] = [
      await withAliases(1, 'agent:main:direct:ada'),
      await withAliases(2, 'agent:main:direct:ada'),
    ]
    const speak = (id: SessionId, at: number) =>
      underTest.store.write((tx) => tx.events.append(id, at, [userMessage('hi')]))
    await speak(first.id, 9_000)
    expect(await named('agent:main:direct:ada')).toBe(first.id)
    await speak(second.id, 9_500)
    expect(await named('agent:main:direct:ada')).toBe(second.id)
    await underTest.store.write((tx) => tx.sessions.deactivate(second.id, 9_600))
    expect(await named('agent:main:direct:ada')).toBe(first.id)
  })

  it('K26: an alias nobody carries names no session', async () => {
    expect(await named('agent:main:direct:nobody')).toBeUndefined()
    expect(await named('')).toBeUndefined()
  })

  it('a scope tells its aliases and can give them up', async () => {
    const { scopeKey } = await withAliases(1, 'b', 'a', 'b')
    const { aliases } = underTest.store.read
    expect(await aliases.of(scopeKey)).toEqual(['a', 'b'])
    expect(await aliases.carriers('a')).toEqual([scopeKeyOf(1)])
    await underTest.store.write((tx) => tx.aliases.drop(scopeKey))
    expect(await aliases.of(scopeKey)).toEqual([])
  })
}
