import { type Logger, LogLevel } from '@slack/web-api'

/**
 * What the platform's packages may write: nothing. Their lines carry message bodies and addresses; what matters of them
 * comes back as outcomes, and is told once, by us.
 */
export const quietLogger: Logger = {
  debug() {},
  info() {},
  warn() {},
  error() {},
  setLevel() {},
  getLevel: () => LogLevel.ERROR,
  setName() {},
}
