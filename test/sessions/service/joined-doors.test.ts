import { expect, it } from 'vitest'
import type { Namespace } from '../../../src/core/caller.ts'
import type { RoutingPolicy } from '../../../src/core/policy.ts'
import { openRig } from '../session-tools/rig.ts'

const SCRIPT = "rules: [{ steps: [{ text: 'heard' }] }]"
const token = (namespace: string) => ({ kind: 'token', namespace: namespace as Namespace }) as const
const NAME = 'web:alice:phone'

it.each<[string, Partial<RoutingPolicy>, 'web:alice' | 'web']>([
  ['all direct chats', { scope: 'global' }, 'web'],
  ['all chats at a door', { dimensions: [] }, 'web:alice'],
])('S42: a session that joins %s is no token’s, whoever begins it', async (_, routing, namespace) => {
  const access = { direct: 'public', groups: [] } as const
  const rig = await openRig({ script: SCRIPT, routing: { ...routing, access } })
  const { sessions } = rig.engine
  const begun = sessions.open(token(namespace), NAME)
  await expect(begun).rejects.toMatchObject({ code: 'not_found' })
  const first = sessions.post(token(namespace), NAME, { text: 'is anybody there?', sender: NAME })
  await expect(first).rejects.toMatchObject({ code: 'not_found' })
  await sessions.post({ kind: 'operator' }, 'web:bob:desk', { text: 'my secret is bluebird' })
  const shared = (await sessions.list({ kind: 'operator' }, { limit: 9, offset: 0, inactive: true })).sessions
  expect(shared).toHaveLength(1)
  await expect(sessions.open(token(namespace), NAME)).rejects.toMatchObject({ code: 'not_found' })
  const asked = sessions.post(token(namespace), NAME, { text: 'what is it?', sender: NAME })
  await expect(asked).rejects.toMatchObject({ code: 'not_found' })
  await expect(sessions.get(token(namespace), shared[0]?.id ?? '')).rejects.toMatchObject({ code: 'not_found' })
})
