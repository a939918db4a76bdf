import type { Config } from '../../config/config.ts'
import type { ChannelStatus } from '../../core/operate-parts.ts'
import type { StatusReport } from '../../core/operator.ts'
import { oneLine } from './plain.ts'

/** Returns the lines an operator needs once the channels have settled, one for each fact. */
export function printStarted(report: StatusReport, config: Pick<Config, 'file' | 'dataDir' | 'warnings'>): string[] {
  return [
    `Parley ${report.version}`,
    ...report.channels.flatMap(channelLines),
    ...claimLines(report),
    `model: ${report.models.map(oneLine).join(', ') || 'none'}`,
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

function claimLines({ ownerKnown, claimLinks, channels }: StatusReport): string[] {
  if (ownerKnown) return []
  if (channels.length === 0) return ['no channel: programs come in with a token, which `parley token create` makes']
  if (claimLinks.length === 0)
    return ['owner: nobody yet; the link to become the owner appears once a channel is up (see parley status)']
  return claimLinks.map((link) => `owner: nobody yet; become the owner with ${oneLine(link)}`)
}

/** Returns the channel's name, with the account unless it is the default one. */
export function channelName({ channel, account }: Pick<ChannelStatus, 'channel' | 'account'>): string {
  return oneLine(account === 'default' ? channel : `${channel}/${account}`)
}
