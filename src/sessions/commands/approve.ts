import type { Approval, ApprovalDesk } from '../../core/approval.ts'
import type { Channels } from '../../core/channel-traits.ts'
import type { ChatCommand, CommandCall } from '../../core/command.ts'
import { errorCode } from '../../core/errors.ts'
import { askerOf } from '../people/links.ts'

export interface ApproveDeps {
  readonly approvals: ApprovalDesk
  readonly channels: Channels
}

/** `/approve <code>` allows one call of a tool that the agent has asked about. It is an owner's command. */
export function approveCommand(deps: ApproveDeps): ChatCommand {
  return {
    name: 'approve',
    description: 'Allow once what I have asked about; without a code, what that is',
    args: 'the code of the question',
    who: 'owner',
    async run(call) {
      if (call.args === '') return openQuestions(await deps.approvals.open())
      const { tool, late, state } = await deps.approvals.decide(call.args, 'allowed', deciderOf(deps, call))
      if (state === 'used') return `Allowed: \`${tool}\`. It has begun.`
      return late ? `Allowed: \`${tool}\`. I do it now.` : `Allowed: \`${tool}\`, this once.`
    },
  }
}

/** `/approvals` lists what the agent has asked about. It is an owner's command. */
export function approvalsCommand({ approvals }: Pick<ApproveDeps, 'approvals'>): ChatCommand {
  return {
    name: 'approvals',
    description: 'What I have asked about and nobody has answered yet',
    who: 'owner',
    private: true,
    run: async () => openQuestions(await approvals.open()),
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

const SHOWN = 10

function openQuestions(all: readonly Approval[]): string {
  if (all.length === 0) return 'I have asked about nothing that waits for an answer.'
  const lines = all.slice(0, SHOWN).map(({ code, tool }) => `- \`${tool}\`: \`/approve ${code}\` or \`/deny ${code}\``)
  return [...lines, ...(all.length > SHOWN ? [`and ${all.length - SHOWN} more`] : [])].join('\n')
}
