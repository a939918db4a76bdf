import { expect, it } from 'vitest'
import { parseAddress } from '../../src/core/address.ts'
import { toScheduleId } from '../../src/core/ids.ts'
import type { RoutingPolicy } from '../../src/core/policy.ts'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { forgettingHouse, heard } from './forgetting-house.ts'
import { setClock } from './set-clock.ts'

const CLUB = -1001234567890

it.each<[string, Partial<RoutingPolicy>, string]>([
  ['in one session with the others', { dimensions: [] }, `telegram:group:${CLUB}`],
  ['in the main session', { scope: 'global' }, 'telegram:direct:444'],
])('T4: a digest of a chat that is %s has what was said in it, and nothing of the others', async (_, routing, of) => {
  const clock = setClock('2026-11-01T08:00:00Z')
  const digest = {
    id: toScheduleId('morning'),
    definition: {
      ...{ cron: '0 9 * * *', timezone: 'Etc/UTC', prompt: 'Summarise it.', missed: { kind: 'once' as const } },
      ...{ overlap: 'skip' as const, digestOf: parseAddress(of), deliverTo: parseAddress('telegram:direct:111') },
    },
  }
  const script: Script = (request, no) => {
    const text = lastUserText(request)
    return text.includes('Summarise it') ? textReply(`digest: ${text}`) : heard(request, no)
  }
  const { world, ledger, say, home } = await forgettingHouse({ script, clock, routing, schedules: () => [digest] })
  world.addChat({ type: 'supergroup', title: 'Club', id: CLUB, members: [111, 444] })
  await say('my own secret')
  await say('the bin goes out', { from: 444, ...(of.includes('group') ? { chat: CLUB } : {}) })
  const after = ledger.mark()
  clock.set('2026-11-01T09:00:10Z')
  const where = ({ text, chatId }: { text: string; chatId: number }) => chatId === 111 && text.startsWith('digest:')
  const { text } = await ledger.nextFromBot('sent', { after, where })
  expect(text).toContain('Bob: ')
  expect(text).toContain('the bin goes out')
  expect(text).toContain('you: heard:')
  expect(text).not.toContain('my own secret')
  expect((await home.daemon.operator.status()).outbox).not.toHaveProperty('rejected')
})
