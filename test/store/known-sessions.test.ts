import { expect, it } from 'vitest'
import type { ScopeKey, SessionId } from '../../src/core/ids.ts'
import type { SessionIdentity } from '../../src/core/session.ts'
import { KnownSessions } from '../../src/store/known-sessions.ts'

const session = (id: string): SessionIdentity => ({ id: id as SessionId }) as SessionIdentity
const scope = (key: string): ScopeKey => key as ScopeKey

it('a session is known by its scope key until it is forgotten by its id, its scope key, or with all', () => {
  const known = new KnownSessions()
  for (const one of ['a', 'b', 'c']) known.keep(scope(one), session(`id-${one}`))
  known.forget('id-a' as SessionId)
  known.forgetScope(scope('b'))
  expect(['a', 'b', 'c'].map((one) => known.get(scope(one))?.id)).toEqual([undefined, undefined, 'id-c'])
  known.clear()
  expect(known.get(scope('c'))).toBeUndefined()
})

it('a scope key that points to another session now is forgotten by that one, and not by the one before', () => {
  const known = new KnownSessions()
  known.keep(scope('a'), session('first'))
  known.keep(scope('a'), session('second'))
  known.forget('first' as SessionId)
  expect(known.get(scope('a'))?.id).toBe('second')
  known.forget('second' as SessionId)
  expect(known.get(scope('a'))).toBeUndefined()
})

it('what is kept is bounded, and what was used longest ago is forgotten first', () => {
  const known = new KnownSessions()
  known.keep(scope('first'), session('first'))
  for (let one = 0; one < 1_000; one++) known.keep(scope(`${one}`), session(`${one}`))
  expect(known.get(scope('first'))).toBeUndefined()
  expect(known.get(scope('999'))?.id).toBe('999')
})
