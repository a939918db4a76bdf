import { expect, it } from 'vitest'
import { deferred } from '../../../src/core/deferred.ts'
import { type ForgetReceipt, NOTHING_FORGOTTEN } from '../../../src/core/forgetting.ts'
import { type ForgetCommandDeps, forgetCommand } from '../../../src/sessions/commands/forget.ts'
import { commandCall } from '../../fakes/command-call.ts'
import { direct } from '../../fakes/dispatch.ts'

const RECEIPT = {
  ...{ id: 'one', state: 'done', platforms: {}, backups: [], exports: [] },
  counts: { ...NOTHING_FORGOTTEN, events: 2, sent: 3, notSent: 4 },
} as unknown as ForgetReceipt

/** A `/forget` that has been given before; everything on record is read until `found`. */
function asked() {
  const found = deferred()
  const forgetting = {
    async known() {
      await found.promise
      return RECEIPT
    },
  }
  const command = forgetCommand({ forgetting } as unknown as ForgetCommandDeps)
  const by = (chat: string, role: 'owner' | 'member'): Promise<unknown> => {
    const call = commandCall('forget', 'me yes', { address: direct(chat) })
    const identity = { role, person: `person-${chat}` }
    return Promise.resolve(command.run({ ...call, decision: { ...call.decision, identity } } as never))
  }
  return { found, by }
}

it('S41: what one person asks to be forgotten is looked for once at a time, and nobody else waits for that', async () => {
  const { found, by } = asked()
  const [first, other] = [by('444', 'member'), by('555', 'member')]
  expect(await by('444', 'member')).toMatch(/^I am still looking/)
  found.resolve()
  expect(await Promise.all([first, other])).toEqual([
    expect.stringContaining('Forgotten: '),
    expect.stringContaining('Forgotten: '),
  ])
  expect(await by('444', 'member')).toContain('Forgotten: ')
})

it('S41: an owner alone reads how many texts of mine went: they say whether somebody wrote the same elsewhere', async () => {
  const { found, by } = asked()
  found.resolve()
  expect(await by('444', 'member')).toContain('Forgotten: 2 entries of logs.')
  const own = await by('111', 'owner')
  expect(own).toContain('2 entries of logs, 3 texts of mine in the outbox, 4 texts that were not sent yet')
})
