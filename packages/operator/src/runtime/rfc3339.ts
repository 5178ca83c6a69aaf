/** Milliseconds since the epoch as Kubernetes writes a time: RFC 3339 in UTC, whole seconds. */
export function rfc3339(milliseconds: number): string {
  return `${new Date(milliseconds).toISOString().slice(0, 19)}Z`;
}
