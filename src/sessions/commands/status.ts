import type { ChatCommand, CommandCall } from '../../core/command.ts'
import { mcpInWords } from '../../core/mcp.ts'
import { serverInWords } from '../../core/model-server.ts'
import type { ModelServerReport } from '../../core/operate-parts.ts'
import type { OperatorService } from '../../core/operator.ts'
import { labelled } from '../../core/session-settings.ts'
import { spendingInWords } from '../../core/spending.ts'
import type { Store } from '../../store/store.ts'

export interface StatusDeps {
  readonly operator: Pick<OperatorService, 'status'>
  readonly store: Pick<Store, 'read'>
}

/** `/status` gives the report of `parley status` in a few lines, and what is set where it is asked. */
export function statusCommand(deps: StatusDeps): ChatCommand {
  return {
    name: 'status',
    description: 'How I am doing',
    who: 'owner',
    private: true,
    run: (call) => status(deps, call),
  }
}

async function status({ operator, store }: StatusDeps, { decision }: CommandCall): Promise<string> {
  const report = await operator.status()
  const session = await store.read.sessions.current(decision.route.scopeKey)
  const set = labelled(session ?? {}).map(([label, value]) => `${label} ${value}`)
  const channels = report.channels.map(
    ({ channel, status, detail }) => `- ${channel}: ${status}${detail ? `, ${detail}` : ''}`,
  )
  const doubtful = report.outbox.uncertain ? [`- ${report.outbox.uncertain} sends of unknown outcome`] : []
  return [
    `Parley ${report.version}, model ${report.models.join(', ') || 'none'}`,
    ...channels,
    ...(report.modelServers ?? []).flatMap(serverLines),
    ...(report.toolServers ?? []).map((server) => `- tools of ${mcpInWords(server)[0]}`),
    `- conversations: ${report.sessions}, being answered: ${report.runningTurns}, messages waiting: ${report.waiting}`,
    ...(report.spentToday === undefined ? [] : [`- today: ${spendingInWords(report.spentToday)}`]),
    ...(report.budgets ?? []).map(({ words }) => `- budget of ${words}`),
    ...doubtful,
    ...(set.length === 0 ? [] : [`- set where you asked: ${set.join(', ')}`]),
  ].join('\n')
}

function serverLines(server: ModelServerReport): readonly string[] {
  return [
    `- ${serverInWords(server)}`,
    ...server.learnt.map(({ model, traits }) => `- ${server.name}/${model} ${traits.join('; ')}`),
    ...server.troubles.map(({ models, cause, remedy }) => {
      const failing = models.map((model) => `${server.name}/${model}`)
      return `- ${failing.join(', ')} fails: ${cause} ${remedy}`
    }),
  ]
}
