// For `node --import`: a process reports its greatest resident size, in megabytes, at its end.
process.on('exit', () => {
  process.stderr.write(`peak ${Math.round(process.resourceUsage().maxRSS / 1024)} MB\n`);
});
