import type { Approval, ApprovalDesk, Decider, StandingRule } from '../../core/approval.ts'
import type { Channels } from '../../core/channel-traits.ts'
import type { ChatCommand, CommandCall } from '../../core/command.ts'
import { errorCode, ParleyError } from '../../core/errors.ts'
import type { AgentId, PersonId } from '../../core/ids.ts'
import { askerOf } from '../people/links.ts'

export interface ApproveDeps {
  readonly approvals: ApprovalDesk
  readonly channels: Channels
  /** People who may answer some questions besides owners. */
  readonly approvers: readonly PersonId[]
}

/**
 * `/approve <code>` allows one call of a tool that the agent has asked about. It is a command of owners and of named
 * approvers.
 */
export function approveCommand(deps: ApproveDeps): ChatCommand {
  return {
    name: 'approve',
    description: 'Allow what I have asked about: once, or from now on here or everywhere',
    args: 'the code of the question, and here or everywhere',
    who: 'owner',
    also: deps.approvers,
    async run(call) {
      if (call.args === '') return openQuestions(await deps.approvals.open(deciderOf(deps, call)))
      const [code = '', where] = call.args.split(/\s+/)
      if (where === undefined)
        return allowed(await deps.approvals.decide(code, 'allowed', deciderOf(deps, call)), 'this once')
      if (where !== 'here' && where !== 'everywhere')
        throw new ParleyError(
          'invalid',
          'Say `/approve <code>`, and `here` or `everywhere` behind it for a standing rule.',
        )
      const approval = await deps.approvals.allowAlways(code, where, deciderOf(deps, call))
      return `${allowed(approval, where === 'here' ? 'and from now on here' : 'and from now on')} \`/approvals forget ${approval.code}\` takes the rule back.`
    },
  }
}

function allowed({ tool, late, state }: Approval, how: string): string {
  if (state === 'used') return `Allowed: \`${tool}\`. It has begun.`
  return late ? `Allowed: \`${tool}\`. I do it now.` : `Allowed: \`${tool}\`, ${how}.`
}

/** `/approvals` lists what the agent has asked about. It is an owner's command. */
export function approvalsCommand(deps: ApproveDeps): ChatCommand {
  return {
    name: 'approvals',
    description: 'What I have asked about, and the standing rules; forget <code> takes one back',
    args: 'forget and the code of a rule',
    who: 'owner',
    private: true,
    async run(call) {
      const { args } = call
      const { approvals } = deps
      if (args === '')
        return [
          openQuestions(await approvals.open(deciderOf(deps, call))),
          ...rulesInWords(await approvals.rules(), call.decision.route.agent),
        ].join('\n\n')
      const [, code] = /^forget\s+(\S+)$/i.exec(args) ?? []
      if (code === undefined) throw new ParleyError('invalid', 'Say `/approvals`, or `/approvals forget <code>`.')
      await approvals.forget(code, call.inboxId)
      return `Forgotten: \`${code}\`. I ask again.`
    },
  }
}

/** Refuses the call of this code. Returns undefined for an owner if no question has it: they may mean an applicant. */
export async function refuseCall(deps: ApproveDeps, call: CommandCall): Promise<string | undefined> {
  const isOwner = call.decision.identity.role === 'owner'
  if (call.args === '' && !isOwner) throw new ParleyError('invalid', 'Say `/deny` and the code of the question.')
  try {
    const { tool } = await deps.approvals.decide(call.args, 'denied', deciderOf(deps, call))
    return `Refused: \`${tool}\`.`
  } catch (err) {
    if (errorCode(err) === 'not_found' && isOwner) return undefined
    throw err
  }
}

/** Returns who answers, by the name that the configuration has for them. */
function deciderOf({ channels }: ApproveDeps, call: CommandCall): Decider {
  const { person, role } = call.decision.identity
  return { by: person ?? askerOf(channels, call).platformId, owner: role === 'owner' }
}

/** Another agent than the one that answers is named. */
function rulesInWords(rules: readonly StandingRule[], own: AgentId): readonly string[] {
  if (rules.length === 0) return []
  const lines = rules.map(({ code, tool, agent, in: place, who, by }) => {
    const whose = agent === own ? '' : ` by the agent \`${agent}\``
    const where = place === undefined ? 'everywhere' : `in \`${place}\``
    const whom = who === 'owner' ? 'owners' : 'people I know'
    return `- \`${tool}\`${whose} ${where}, for ${whom}, by ${by}: \`/approvals forget ${code}\``
  })
  return [['Without asking I may use', ...lines].join('\n')]
}

const SHOWN = 10

function openQuestions(all: readonly Approval[]): string {
  if (all.length === 0) return 'I have asked about nothing that waits for an answer.'
  const lines = all.slice(0, SHOWN).map(({ code, tool }) => `- \`${tool}\`: \`/approve ${code}\` or \`/deny ${code}\``)
  return [...lines, ...(all.length > SHOWN ? [`and ${all.length - SHOWN} more`] : [])].join('\n')
}
