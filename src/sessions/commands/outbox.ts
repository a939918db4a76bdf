import type { ChatCommand } from '../../core/command.ts'
import { ParleyError } from '../../core/errors.ts'
import type { PersonId } from '../../core/ids.ts'
import type { OutboxOperator, RestorationReport } from '../../core/operate-outbox.ts'
import { withLocalTimes } from '../../core/wall-time.ts'

const LISTED = 10

/** `/outbox` sends or discards messages that are held after the database was restored. It is an owner's command. */
export function outboxCommand(outbox: OutboxOperator, zoneOf: (person: PersonId | undefined) => string): ChatCommand {
  return {
    name: 'outbox',
    description: 'What I hold back after my database was put back',
    args: 'resume sends it, discard drops it',
    who: 'owner',
    private: true,
    async run({ args, decision: { identity } }) {
      if (args === 'resume' || args === 'discard') return decided(outbox, args)
      if (args !== '') throw new ParleyError('invalid', 'Say `/outbox`, `/outbox resume` or `/outbox discard`.')
      const report = await outbox.restoration()
      return report ? withLocalTimes(described(report), zoneOf(identity.person)) : 'I hold nothing back.'
    },
  }
}

/** May run again after a crash: a decision that was made stays. */
async function decided(outbox: OutboxOperator, verdict: 'resume' | 'discard'): Promise<string> {
  const before = await outbox.restoration()
  if (before?.state !== 'held') return 'I hold nothing back.'
  await outbox.decide(verdict)
  return verdict === 'resume'
    ? `I send what I held back: ${before.held}.`
    : `I dropped what I held back: ${before.held}.`
}

function described({ held, unanswered, state }: RestorationReport): string {
  const waits = state === 'held' || state === 'found'
  const first = waits
    ? `Queued messages I hold back: ${held}. \`/outbox resume\` sends them, \`/outbox discard\` drops them.`
    : `I hold nothing back: it was ${state}.`
  const listed = unanswered
    .slice(0, LISTED)
    .map(({ inboxId, address, sentAt }) => `- ${address}, ${new Date(sentAt).toISOString()}: \`/why ${inboxId}\``)
  return listed.length === 0
    ? first
    : [first, 'Left unanswered, since I may have answered it before:', ...listed].join('\n')
}
