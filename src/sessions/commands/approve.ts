import type { Approval, ApprovalDesk, StandingRule } from '../../core/approval.ts'
import type { Channels } from '../../core/channel-traits.ts'
import type { ChatCommand, CommandCall } from '../../core/command.ts'
import { errorCode, ParleyError } from '../../core/errors.ts'
import { askerOf } from '../people/links.ts'

export interface ApproveDeps {
  readonly approvals: ApprovalDesk
  readonly channels: Channels
}

/** `/approve <code>` allows one call of a tool that the agent has asked about. It is an owner's command. */
export function approveCommand(deps: ApproveDeps): ChatCommand {
  return {
    name: 'approve',
    description: 'Allow what I have asked about: once, or from now on here or everywhere',
    args: 'the code of the question, and here or everywhere',
    who: 'owner',
    async run(call) {
      if (call.args === '') return openQuestions(await deps.approvals.open())
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
export function approvalsCommand({ approvals }: Pick<ApproveDeps, 'approvals'>): ChatCommand {
  return {
    name: 'approvals',
    description: 'What I have asked about, and the standing rules; forget <code> takes one back',
    args: 'forget and the code of a rule',
    who: 'owner',
    private: true,
    async run({ args }) {
      if (args === '')
        return [openQuestions(await approvals.open()), ...rulesInWords(await approvals.rules())].join('\n\n')
      const [, code] = /^forget\s+(\S+)$/i.exec(args) ?? []
      if (code === undefined) throw new ParleyError('invalid', 'Say `/approvals`, or `/approvals forget <code>`.')
      await approvals.forget(code)
      return `Forgotten: \`${code}\`. I ask again.`
    },
  }
}

/** Refuses the call of this code; returns undefined if no question has it. */
export async function refuseCall(deps: ApproveDeps, call: CommandCall): Promise<string | undefined> {
  try {
    const { tool } = await deps.approvals.decide(call.args, 'denied', deciderOf(deps, call))
    return `Refused: \`${tool}\`.`
  } catch (err) {
    if (errorCode(err) === 'not_found') return undefined
    throw err
  }
}

/** Returns who answers, by the name that the configuration has for them. */
function deciderOf({ channels }: ApproveDeps, call: CommandCall): string {
  return call.decision.identity.person ?? askerOf(channels, call).platformId
}

function rulesInWords(rules: readonly StandingRule[]): readonly string[] {
  if (rules.length === 0) return []
  const lines = rules.map(({ code, tool, in: place, who, by }) => {
    const where = place === undefined ? 'everywhere' : `in \`${place}\``
    const whom = who === 'owner' ? 'owners' : 'people I know'
    return `- \`${tool}\` ${where}, for ${whom}, by ${by}: \`/approvals forget ${code}\``
  })
  return [['Without asking I may use', ...lines].join('\n')]
}

const SHOWN = 10

function openQuestions(all: readonly Approval[]): string {
  if (all.length === 0) return 'I have asked about nothing that waits for an answer.'
  const lines = all.slice(0, SHOWN).map(({ code, tool }) => `- \`${tool}\`: \`/approve ${code}\` or \`/deny ${code}\``)
  return [...lines, ...(all.length > SHOWN ? [`and ${all.length - SHOWN} more`] : [])].join('\n')
}
