/** For what comes when it comes: a bound against hanging, no claim about speed. A busy machine may take its time. */
export const PATIENCE_MS = Number(process.env['PATIENCE_MS'] ?? 300_000);
