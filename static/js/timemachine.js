// Time Machine's own script: it only quickens what links and forms do without it.
