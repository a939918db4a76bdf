import { expect, it } from 'vitest'
import { removeTempFolders } from '../../store/temp-database.ts'
import { OPERATOR, serviceRig } from '../service-rig.ts'

removeTempFolders()

it.each([
  ['Budget: 2027', 'Budget: 2027'],
  ['  two\n lines ', 'two lines'],
  ['turned \u202eround\u0000', 'turned round'],
  ['half \ud83d', 'half'],
  ['🎉'.repeat(80), '🎉'.repeat(80)],
])('R3: a session that is named %j is called %j', async (given, called) => {
  const { service, make } = await serviceRig()
  expect(await service.rename(OPERATOR, await make(), given)).toMatchObject({ description: called })
})

it.each(['', ' \u200e\u0000', '🎉'.repeat(81)])('R3: %j is no name', async (given) => {
  const { service, make } = await serviceRig()
  await expect(service.rename(OPERATOR, await make(), given)).rejects.toMatchObject({ code: 'invalid' })
})

it.each(['api:direct:eve', 'cli:group:desk', 'web:channel:phone'])(
  '%s is no name of a session of its own: it reads like the key of a chat',
  async (name) => {
    const { service } = await serviceRig()
    await expect(service.post(OPERATOR, name, { text: 'hello' })).rejects.toMatchObject({ code: 'invalid' })
  },
)
