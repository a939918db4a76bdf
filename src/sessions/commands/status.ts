import type { ChatCommand } from '../../core/command.ts'
import type { OperatorService } from '../../core/operator.ts'

/** `/status` gives the report of `parley status` in a few lines. */
export function statusCommand(operator: Pick<OperatorService, 'status'>): ChatCommand {
  return { name: 'status', description: 'How I am doing', who: 'owner', private: true, run: () => status(operator) }
}

async function status(operator: Pick<OperatorService, 'status'>): Promise<string> {
  const report = await operator.status()
  const channels = report.channels.map(
    ({ channel, status, detail }) => `- ${channel}: ${status}${detail ? `, ${detail}` : ''}`,
  )
  const troubles = (report.modelTroubles ?? []).map(
    ({ model, cause, remedy }) => `- ${model} fails: ${cause} ${remedy}`,
  )
  const doubtful = report.outbox.uncertain ? [`- ${report.outbox.uncertain} sends of unknown outcome`] : []
  return [
    `Parley ${report.version}, model ${report.models.join(', ')}`,
    ...channels,
    ...troubles,
    `- conversations: ${report.sessions}, being answered: ${report.runningTurns}, messages waiting: ${report.waiting}`,
    ...doubtful,
  ].join('\n')
}
