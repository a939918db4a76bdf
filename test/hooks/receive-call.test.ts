import { createHmac } from 'node:crypto'
import { expect, it } from 'vitest'
import type { Caller } from '../../src/core/caller.ts'
import type { HookedCall, InboundHook } from '../../src/core/operate-hooks.ts'
import { createInboundHooks } from '../../src/hooks/receive-call.ts'
import { fixedClock } from '../fakes/fixed-clock.ts'

const NOW = 1_800_000_000_000
const HOOK = { name: 'build', secret: 'key', signature: 'parley', sessions: ['api:builds'] } as unknown as InboundHook
const OWNER: Caller = { kind: 'person', role: 'owner' } as Caller

it('T34: a call goes into no session but those of its hook, whoever makes it, and nothing is on record of it', async () => {
  const body = Buffer.from('{}')
  const timestamp = String(NOW)
  const signature = `v1=${createHmac('sha256', 'key').update(`${timestamp}.{}`).digest('hex')}`
  const call = { name: 'build', body, timestamp, signature, session: 'api:notes' } as HookedCall
  const nothing = {} as never
  const hooks = createInboundHooks({
    hooks: [HOOK],
    runs: nothing,
    store: nothing,
    clock: fixedClock(NOW),
    logger: nothing,
  })
  await expect(hooks.receive(OWNER, call)).rejects.toMatchObject({ code: 'not_found' })
})
