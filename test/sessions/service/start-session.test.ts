import { expect, it } from 'vitest'
import type { Namespace } from '../../../src/core/caller.ts'
import { openRig } from '../session-tools/rig.ts'

const SCRIPT = "rules: [{ steps: [{ text: 'heard' }] }]"
const OWNER = { kind: 'operator' } as const
const token = (namespace: string) => ({ kind: 'token', namespace: namespace as Namespace }) as const

it('S42: a token starts sessions of its namespace alone, and neither chooses their model nor that of an answer', async () => {
  const { sessions } = (await openRig({ script: SCRIPT })).engine
  const begun = await sessions.start(token('api:shop'), { name: 'api:shop:1' })
  expect(begun).toMatchObject({ id: 'api:shop:1', agent: 'main' })
  for (const name of ['api:other:1', 'cli:mine'])
    await expect(sessions.start(token('api:shop'), { name })).rejects.toMatchObject({ code: 'not_found' })
  const model = 'scripted/echo'
  await expect(sessions.start(token('api:shop'), { name: 'api:shop:2', model })).rejects.toMatchObject({
    code: 'forbidden',
  })
  const said = { text: 'hi', sender: 'api:shop:1', model }
  await expect(sessions.post(token('api:shop'), 'api:shop:1', said)).rejects.toMatchObject({ code: 'forbidden' })
  expect((await sessions.list(OWNER, { limit: 9, offset: 0, inactive: true })).total).toBe(1)
  expect((await sessions.start(token('api:shop'), {})).id).toMatch(/^api:shop:/)
})

it('C1: a conversation that others share has no agent of its own, and is not there for a token', async () => {
  const rig = await openRig({ script: SCRIPT, routing: { scope: 'global' } })
  const { sessions } = rig.engine
  await expect(sessions.start(OWNER, { name: 'web:desk' })).rejects.toMatchObject({ code: 'conflict' })
  await expect(sessions.start(token('web'), { name: 'web:desk' })).rejects.toMatchObject({ code: 'not_found' })
})

it('C2: the event of the start has what its client gave', async () => {
  const { sessions } = (await openRig({ script: SCRIPT })).engine
  await sessions.start(OWNER, { name: 'api:a', workspace: 'constructor', context: { city: 'Oslo' } })
  const { events } = await sessions.get(OWNER, 'api:a')
  expect(events).toMatchObject([{ type: 'session:started', text: 'agent main, workspace constructor, city: Oslo' }])
})
