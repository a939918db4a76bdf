import type { Config } from '../../config/config.ts'
import type { ChannelStatus } from '../../core/operate-parts.ts'
import type { StatusReport } from '../../core/operator.ts'
import { oneLine } from './plain.ts'

/** Returns the lines an operator needs once the channels have settled, one for each fact. */
export function printStarted(
  report: StatusReport,
  config: Pick<Config, 'file' | 'dataDir' | 'routing' | 'warnings'>,
): string[] {
  return [
    `Parley ${report.version}`,
    ...report.channels.flatMap(channelLines),
    ...ownerLines(report),
    ...groupLines(report, config),
    `model: ${report.models.map(oneLine).join(', ') || 'none, so nobody is answered yet'}`,
    `configuration: ${config.file ?? 'the environment (no file)'}`,
    `data: ${config.dataDir}`,
    ...config.warnings.map((warning) => `warning: ${oneLine(warning)}`),
    'Stop with Ctrl-C.',
  ]
}

function channelLines(channel: ChannelStatus): string[] {
  const name = channelName(channel)
  return [`${name}: ${oneLine(stateOf(channel))}`, ...channel.hints.map((hint) => `${name}: ${oneLine(hint)}`)]
}

function stateOf({ status, username, detail }: ChannelStatus): string {
  if (status === 'up') return username ? `up as @${username}` : 'up'
  return detail ? `${status}: ${detail}` : status
}

function ownerLines(report: StatusReport): string[] {
  if (!report.ownerKnown && report.channels.length === 0)
    return ['no channel: programs come in with a token, which `parley token create` makes']
  return claimLines(report).map((line) => `owner: nobody yet; ${line}`)
}

/** Says what an owner's words in groups cost, where there are an owner and a group that is allowed. */
function groupLines({ ownerKnown }: StatusReport, { routing }: Pick<Config, 'routing'>): string[] {
  const { access, ownerAlwaysTriggers } = routing
  const costs = access.groups.some(
    ({ trigger, ownerAlwaysTriggers: own = ownerAlwaysTriggers }) => own && trigger !== 'never',
  )
  if (!ownerKnown || !costs) return []
  return ['groups: whatever an owner says there costs a call; routing.ownerAlwaysTriggers: false ends that']
}

/** Returns how to become the owner, a line for each account; none once there is an owner. */
export function claimLines({ ownerKnown, claims, startedAt }: StatusReport): string[] {
  if (ownerKnown) return []
  if (startedAt === undefined) return ['the code to become the owner is printed once it runs (parley start)']
  if (claims.length === 0) return ['the code to become the owner appears once a channel is up (see parley status)']
  return claims.map(({ link, command, username, ...account }) =>
    link === undefined
      ? `send @${oneLine(username)} (${channelName(account)}) in a direct chat: ${oneLine(command)}`
      : `become the owner with ${oneLine(link)}`,
  )
}

/** Returns the channel's name, with the account unless it is the default one. */
export function channelName({ channel, account }: Pick<ChannelStatus, 'channel' | 'account'>): string {
  return oneLine(account === 'default' ? channel : `${channel}/${account}`)
}
