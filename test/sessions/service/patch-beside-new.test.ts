import { expect, it } from 'vitest'
import { toSessionId } from '../../../src/core/ids.ts'
import { removeTempFolders } from '../../store/temp-database.ts'
import { OPERATOR, serviceRig } from '../service-rig.ts'

removeTempFolders()

it.each(['scopeKey', 'displayKey'] as const)(
  'T29: by %s, the session is changed that the name means when that is written',
  async (by) => {
    const { store, service, overrides, make } = await serviceRig()
    const session = await store.read.sessions.get(await make())
    if (!session) throw new Error('the session is gone')
    const changed = service.patch(OPERATOR, session[by], { sendPolicy: 'deny' })
    const fresh = await store.write(async (tx) => {
      await tx.sessions.deactivate(session.id, 1)
      return tx.sessions.create({ ...session, id: toSessionId('telegram:2026-11-21-0000beef') }, 2)
    })
    expect(await changed).toMatchObject({ id: fresh.id, sendPolicy: 'deny' })
    expect(await store.read.sessions.get(session.id)).not.toHaveProperty('sendPolicy')
    expect(overrides.send(session.scopeKey)).toBe('deny')
  },
)
