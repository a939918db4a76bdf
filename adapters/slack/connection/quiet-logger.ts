import { type Logger, LogLevel } from '@slack/web-api'

/**
 * Silences the platform's packages. Their lines carry message bodies and addresses; everything important comes back as
 * an outcome and is logged once, by us.
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
