import { expect, it } from 'vitest'
import type { SessionId } from '../../../src/core/ids.ts'
import { userMessage } from '../../store/sample-rows.ts'
import { removeTempFolders } from '../../store/temp-database.ts'
import { ADA, BOB, DAY, GUEST, OPERATOR, serviceRig, token } from '../service-rig.ts'

removeTempFolders()

it('R2: a total counts what is listed, over all pages, for whoever asks', async () => {
  const rig = await serviceRig()
  const ids = ['web:alice:phone', 'web:alice:desk', 'web:bob:phone', 'cli:desk', 'cli:old'] as SessionId[]
  for (const id of ids) await rig.make({ id })
  await rig.store.write((tx) => tx.participants.add(ids[0] as SessionId, 'telegram:444', 1))
  await rig.store.write((tx) => tx.sessions.deactivate(ids[3] as SessionId, 1))
  rig.setNow(1_800_000_000_000 + 4 * DAY)
  await rig.store.write((tx) => tx.events.append(ids[0] as SessionId, 1_800_000_000_000 + 4 * DAY, [userMessage('x')]))
  for (const caller of [OPERATOR, ADA, BOB, GUEST, token('web:alice'), token('cli')])
    for (const inactive of [true, false]) {
      const { total } = await rig.service.list(caller, { limit: 1, offset: 0, inactive })
      const listed = async (offset: number) => (await rig.service.list(caller, { limit: 1, offset, inactive })).sessions
      const pages = await Promise.all([0, 1, 2, 3, 4, 5].map(listed))
      expect(pages.flat()).toHaveLength(total)
    }
})
