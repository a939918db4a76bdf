import type { Admission } from '../../core/admission.ts'
import type { ChatCommand, CommandCall } from '../../core/command.ts'
import type { Admissions } from '../people/admissions.ts'
import { askerOf } from '../people/links.ts'
import { type ApproveDeps, refuseCall } from './approve.ts'

export interface AdmitDeps extends ApproveDeps {
  readonly admissions: Pick<Admissions, 'decide' | 'list'>
}

/** `/admit <code>` lets a person or a place in; what they said meanwhile is handled. It is an owner's command. */
export function admitCommand(deps: AdmitDeps): ChatCommand {
  return {
    name: 'admit',
    description: 'Let in who asked to talk to me; without a code, who asks',
    who: 'owner',
    private: true,
    run: (call) => decide(call, deps, 'admitted'),
  }
}

/**
 * `/deny <code>` refuses a person or a place, withdraws an admission, or refuses a call that the agent has asked about,
 * which named approvers may as well.
 */
export function denyCommand(deps: AdmitDeps): ChatCommand {
  return {
    name: 'deny',
    description: 'Keep out who asked to talk to me, take an /admit back, or refuse what I have asked about',
    who: 'owner',
    also: deps.approvers,
    private: true,
    run: async (call) => (await refuseCall(deps, call)) ?? decide(call, deps, 'denied'),
  }
}

async function decide(
  call: CommandCall,
  { admissions, channels }: AdmitDeps,
  state: 'admitted' | 'denied',
): Promise<string> {
  if (call.args === '') return pending(await admissions.list())
  const by = call.decision.identity.person ?? askerOf(channels, call).platformId
  const { kind, key, code, name, handled, ruledBy } = await admissions.decide(call.args, state, by)
  if (state === 'denied') return `\`${key}\` stays out, and I do not ask again. \`/admit ${code}\` changes that.`
  const who = name === '' ? `\`${key}\`` : `\`${name}\` (\`${key}\`)`
  if (ruledBy !== undefined)
    return `${who} is noted as admitted, but the setting \`${ruledBy}\` decides there in any case: change or remove it.`
  const effect = kind === 'person' ? 'may talk to me now' : 'is open now: whoever addresses me there is answered'
  const earlier = handled === 0 ? '' : ' I handle what was said since yesterday.'
  return `${who} ${effect}.${earlier} \`/deny ${code}\` takes it back.`
}

const SHOWN = 10

function pending(all: readonly Admission[]): string {
  const asking = all.filter(({ state }) => state === 'asked')
  if (asking.length === 0) return 'Nobody asks to be let in.'
  const lines = asking
    .slice(0, SHOWN)
    .map(({ key, name, code }) => `- \`${key}\`${name ? ` (\`${name}\`)` : ''}: \`/admit ${code}\``)
  const more = asking.length > SHOWN ? [`and ${asking.length - SHOWN} more`] : []
  return [...lines, ...more].join('\n')
}
