import { expect, it } from 'vitest'
import type { CommandCall } from '../../../src/core/command.ts'
import { toPersonId } from '../../../src/core/ids.ts'
import { type LinkCommandDeps, linkCommand } from '../../../src/sessions/commands/link.ts'
import { CHANNELS } from '../../fakes/channels.ts'
import { commandCall } from '../../fakes/command-call.ts'
import { direct, user } from '../../fakes/dispatch.ts'

it.each([
  ['a member', 'member', 'send me this code on the other platform'],
  ['who was taken out of the people', 'guest', 'I do not know you here'],
] as const)('/link of %s, whose id is still linked', async (_, role, answer) => {
  const given = commandCall('link', '', { address: direct('444'), sender: user('444') })
  const identity = { person: toPersonId('bob'), role }
  const call: CommandCall = { ...given, decision: { ...given.decision, identity } }
  const links = { offer: async () => 'CODE' } as unknown as LinkCommandDeps['links']
  expect(await linkCommand({ links, channels: CHANNELS }).run(call)).toContain(answer)
})
